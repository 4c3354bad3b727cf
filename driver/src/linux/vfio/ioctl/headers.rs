// SPDX-License-Identifier: MIT OR Apache-2.0
//! What is used of the interfaces of VFIO and iommufd beside the kernel's headers.

use std::mem::offset_of;

use kernel_headers::Header;

use super::{iommufd, iommufd_request, vfio};

/// The sizes of structures, and where their fields are.
macro_rules! structures {
    ($header:expr, $module:ident: $($name:ident { $($field:ident),* })*) => {
        $header$(
            .size(stringify!($name), size_of::<$module::$name>())
            $(.offset(stringify!($name), stringify!($field), offset_of!($module::$name, $field)))*
        )*
    };
}

/// Values by the names that the header has for them.
macro_rules! values {
    ($header:expr, $module:ident: $($name:ident)*) => {
        $header$(.value(stringify!($name), $module::$name))*
    };
}

/// Requests, which the header calls the same behind `VFIO_`.
macro_rules! requests {
    ($header:expr, $($name:ident)*) => {
        $header$(.value(concat!("VFIO_", stringify!($name)), super::$name))*
    };
}

#[test]
fn requests_of_vfio_are_those_of_the_kernel() {
    let header = requests! {
        Header::new("linux/vfio.h"),
        GET_API_VERSION
        CHECK_EXTENSION
        SET_IOMMU
        GROUP_GET_STATUS
        GROUP_SET_CONTAINER
        GROUP_GET_DEVICE_FD
        DEVICE_GET_REGION_INFO
        DEVICE_GET_IRQ_INFO
        DEVICE_SET_IRQS
        DEVICE_RESET
        IOMMU_GET_INFO
        IOMMU_MAP_DMA
        IOMMU_UNMAP_DMA
    };
    header
        .since("VFIO_DEVICE_BIND_IOMMUFD", |header| {
            requests! { header, DEVICE_BIND_IOMMUFD DEVICE_ATTACH_IOMMUFD_PT }
        })
        .check();
}

#[test]
fn structures_of_vfio_are_those_of_the_kernel() {
    let header = structures! {
        Header::new("linux/vfio.h"), vfio:
        vfio_group_status { argsz, flags }
        vfio_region_info { argsz, flags, index, cap_offset, size, offset }
        vfio_info_cap_header { id, version, next }
        vfio_region_info_cap_sparse_mmap { header, nr_areas, reserved, areas }
        vfio_region_sparse_mmap_area { offset, size }
        vfio_irq_info { argsz, flags, index, count }
        vfio_irq_set { argsz, flags, index, start, count, data }
        vfio_iommu_type1_info { argsz, flags, iova_pgsizes, cap_offset }
        vfio_iommu_type1_info_cap_iova_range { header, nr_iovas, reserved, iova_ranges }
        vfio_iova_range { start, end }
        vfio_iommu_type1_dma_map { argsz, flags, vaddr, iova, size }
        vfio_iommu_type1_dma_unmap { argsz, flags, iova, size }
    };
    header
        .since("VFIO_DEVICE_BIND_IOMMUFD", |header| {
            structures! {
                header, vfio:
                vfio_device_bind_iommufd { argsz, flags, iommufd, out_devid }
                vfio_device_attach_iommufd_pt { argsz, flags, pt_id }
            }
        })
        .check();
}

#[test]
fn values_of_vfio_are_those_of_the_kernel() {
    let header = values! {
        Header::new("linux/vfio.h"), vfio:
        VFIO_BASE
        VFIO_DMA_MAP_FLAG_READ
        VFIO_DMA_MAP_FLAG_WRITE
        VFIO_GROUP_FLAGS_VIABLE
        VFIO_IOMMU_TYPE1_INFO_CAP_IOVA_RANGE
        VFIO_IRQ_INFO_EVENTFD
        VFIO_IRQ_SET_ACTION_TRIGGER
        VFIO_IRQ_SET_DATA_EVENTFD
        VFIO_NOIOMMU_IOMMU
        VFIO_PCI_BAR0_REGION_INDEX
        VFIO_PCI_CONFIG_REGION_INDEX
        VFIO_PCI_ERR_IRQ_INDEX
        VFIO_PCI_MSIX_IRQ_INDEX
        VFIO_PCI_REQ_IRQ_INDEX
        VFIO_REGION_INFO_CAP_SPARSE_MMAP
        VFIO_REGION_INFO_FLAG_CAPS
        VFIO_REGION_INFO_FLAG_MMAP
        VFIO_TYPE
        VFIO_TYPE1v2_IOMMU
    };
    header.check();
}

#[test]
fn iommufd_is_that_of_the_kernel() {
    let header = Header::new("linux/iommufd.h")
        .value("IOMMU_IOAS_ALLOC", iommufd_request(iommufd::IOMMUFD_CMD_IOAS_ALLOC))
        .value("IOMMU_IOAS_IOVA_RANGES", iommufd_request(iommufd::IOMMUFD_CMD_IOAS_IOVA_RANGES))
        .value("IOMMU_IOAS_MAP", iommufd_request(iommufd::IOMMUFD_CMD_IOAS_MAP))
        .value("IOMMU_IOAS_UNMAP", iommufd_request(iommufd::IOMMUFD_CMD_IOAS_UNMAP))
        .value(
            "IOMMU_IOAS_MAP_FIXED_IOVA",
            iommufd::iommufd_ioas_map_flags_IOMMU_IOAS_MAP_FIXED_IOVA,
        )
        .value("IOMMU_IOAS_MAP_WRITEABLE", iommufd::iommufd_ioas_map_flags_IOMMU_IOAS_MAP_WRITEABLE)
        .value("IOMMU_IOAS_MAP_READABLE", iommufd::iommufd_ioas_map_flags_IOMMU_IOAS_MAP_READABLE);
    let header = structures! {
        header, iommufd:
        iommu_ioas_alloc { size, flags, out_ioas_id }
        iommu_iova_range { start, last }
        iommu_ioas_iova_ranges { size, ioas_id, num_iovas, allowed_iovas, out_iova_alignment }
        iommu_ioas_map { size, flags, ioas_id, user_va, length, iova }
        iommu_ioas_unmap { size, ioas_id, iova, length }
    };
    header.check();
}
