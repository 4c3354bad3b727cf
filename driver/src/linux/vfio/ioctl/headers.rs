// SPDX-License-Identifier: MIT OR Apache-2.0
//! What is used of the interfaces of VFIO and iommufd beside the kernel's headers.

use std::mem::offset_of;

use kernel_headers::Header;

use super::{iommufd, iommufd_request, vfio};

/// The size of a structure, and where its fields are.
macro_rules! structure {
    ($header:expr, $module:ident::$name:ident { $($field:ident),* }) => {
        $header
            .size(stringify!($name), size_of::<$module::$name>())
            $(.offset(stringify!($name), stringify!($field), offset_of!($module::$name, $field)))*
    };
}

/// Values by the names that the header has for them.
macro_rules! values {
    ($header:expr, $($module:ident::$name:ident),*) => {
        $header$(.value(stringify!($name), $module::$name))*
    };
}

#[test]
fn requests_of_vfio_are_those_of_the_kernel() {
    Header::new("linux/vfio.h")
        .value("VFIO_GET_API_VERSION", super::GET_API_VERSION)
        .value("VFIO_CHECK_EXTENSION", super::CHECK_EXTENSION)
        .value("VFIO_SET_IOMMU", super::SET_IOMMU)
        .value("VFIO_GROUP_GET_STATUS", super::GROUP_GET_STATUS)
        .value("VFIO_GROUP_SET_CONTAINER", super::GROUP_SET_CONTAINER)
        .value("VFIO_GROUP_GET_DEVICE_FD", super::GROUP_GET_DEVICE_FD)
        .value("VFIO_DEVICE_GET_REGION_INFO", super::DEVICE_GET_REGION_INFO)
        .value("VFIO_DEVICE_GET_IRQ_INFO", super::DEVICE_GET_IRQ_INFO)
        .value("VFIO_DEVICE_SET_IRQS", super::DEVICE_SET_IRQS)
        .value("VFIO_DEVICE_RESET", super::DEVICE_RESET)
        .value("VFIO_IOMMU_GET_INFO", super::IOMMU_GET_INFO)
        .value("VFIO_IOMMU_MAP_DMA", super::IOMMU_MAP_DMA)
        .value("VFIO_IOMMU_UNMAP_DMA", super::IOMMU_UNMAP_DMA)
        .since("VFIO_DEVICE_BIND_IOMMUFD", |header| {
            header
                .value("VFIO_DEVICE_BIND_IOMMUFD", super::DEVICE_BIND_IOMMUFD)
                .value("VFIO_DEVICE_ATTACH_IOMMUFD_PT", super::DEVICE_ATTACH_IOMMUFD_PT)
        })
        .check();
}

#[test]
fn structures_of_vfio_are_those_of_the_kernel() {
    let header = Header::new("linux/vfio.h");
    let header = structure!(header, vfio::vfio_group_status { argsz, flags });
    let header = structure!(
        header,
        vfio::vfio_region_info { argsz, flags, index, cap_offset, size, offset }
    );
    let header = structure!(header, vfio::vfio_info_cap_header { id, version, next });
    let header = structure!(
        header,
        vfio::vfio_region_info_cap_sparse_mmap { header, nr_areas, reserved, areas }
    );
    let header = structure!(header, vfio::vfio_region_sparse_mmap_area { offset, size });
    let header = structure!(header, vfio::vfio_irq_info { argsz, flags, index, count });
    let header = structure!(header, vfio::vfio_irq_set { argsz, flags, index, start, count, data });
    let header =
        structure!(header, vfio::vfio_iommu_type1_info { argsz, flags, iova_pgsizes, cap_offset });
    let header = structure!(
        header,
        vfio::vfio_iommu_type1_info_cap_iova_range { header, nr_iovas, reserved, iova_ranges }
    );
    let header = structure!(header, vfio::vfio_iova_range { start, end });
    let header =
        structure!(header, vfio::vfio_iommu_type1_dma_map { argsz, flags, vaddr, iova, size });
    let header = structure!(header, vfio::vfio_iommu_type1_dma_unmap { argsz, flags, iova, size });
    header
        .since("VFIO_DEVICE_BIND_IOMMUFD", |header| {
            let header = structure!(
                header,
                vfio::vfio_device_bind_iommufd { argsz, flags, iommufd, out_devid }
            );
            structure!(header, vfio::vfio_device_attach_iommufd_pt { argsz, flags, pt_id })
        })
        .check();
}

#[test]
fn values_of_vfio_are_those_of_the_kernel() {
    values!(
        Header::new("linux/vfio.h"),
        vfio::VFIO_BASE,
        vfio::VFIO_DMA_MAP_FLAG_READ,
        vfio::VFIO_DMA_MAP_FLAG_WRITE,
        vfio::VFIO_GROUP_FLAGS_VIABLE,
        vfio::VFIO_IOMMU_TYPE1_INFO_CAP_IOVA_RANGE,
        vfio::VFIO_IRQ_INFO_EVENTFD,
        vfio::VFIO_IRQ_SET_ACTION_TRIGGER,
        vfio::VFIO_IRQ_SET_DATA_EVENTFD,
        vfio::VFIO_NOIOMMU_IOMMU,
        vfio::VFIO_PCI_BAR0_REGION_INDEX,
        vfio::VFIO_PCI_CONFIG_REGION_INDEX,
        vfio::VFIO_PCI_ERR_IRQ_INDEX,
        vfio::VFIO_PCI_MSIX_IRQ_INDEX,
        vfio::VFIO_PCI_REQ_IRQ_INDEX,
        vfio::VFIO_REGION_INFO_CAP_SPARSE_MMAP,
        vfio::VFIO_REGION_INFO_FLAG_CAPS,
        vfio::VFIO_REGION_INFO_FLAG_MMAP,
        vfio::VFIO_TYPE,
        vfio::VFIO_TYPE1v2_IOMMU
    )
    .check();
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
    let header = structure!(header, iommufd::iommu_ioas_alloc { size, flags, out_ioas_id });
    let header = structure!(header, iommufd::iommu_iova_range { start, last });
    let header = structure!(
        header,
        iommufd::iommu_ioas_iova_ranges {
            size,
            ioas_id,
            num_iovas,
            allowed_iovas,
            out_iova_alignment
        }
    );
    let header =
        structure!(header, iommufd::iommu_ioas_map { size, flags, ioas_id, user_va, length, iova });
    let header = structure!(header, iommufd::iommu_ioas_unmap { size, ioas_id, iova, length });
    header.check();
}
