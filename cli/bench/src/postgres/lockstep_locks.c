/*
 * Functions for a PostgreSQL server that call its own tuple locks in a loop and say how long that
 * took. Everything happens inside one backend: no protocol, parser or executor is measured.
 *
 * A backend first collects the places of a table's tuples with lockstep_prepare(); the others then
 * go through them in that order. All times are nanoseconds of CLOCK_MONOTONIC.
 */
#include "postgres.h"

#include <sched.h>
#include <time.h>

#include "access/heapam.h"
#include "access/tableam.h"
#include "access/xact.h"
#include "catalog/pg_type.h"
#include "executor/tuptable.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "storage/lmgr.h"
#include "storage/lock.h"
#include "utils/array.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

PG_MODULE_MAGIC;

/* What SELECT FOR UPDATE takes when it has to wait for a tuple. */
#define TUPLE_LOCK AccessExclusiveLock

/* The tuples of the table that was prepared last, in the order in which they are to be locked. */
static Oid prepared = InvalidOid;
static ItemPointerData *places = NULL;
static int64 place_count = 0;

static inline int64
now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (int64) time.tv_sec * 1000000000 + time.tv_nsec;
}

/* Stays on the first processor that it may use, where Lockstep's own locks are measured too. */
static void
stay_on_one_processor(void)
{
	cpu_set_t	allowed;
	cpu_set_t	first;

	if (sched_getaffinity(0, sizeof(allowed), &allowed) != 0)
		return;
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
	{
		if (!CPU_ISSET(cpu, &allowed))
			continue;
		CPU_ZERO(&first);
		CPU_SET(cpu, &first);
		/* Where this is refused, the measurement varies more. */
		(void) sched_setaffinity(0, sizeof(first), &first);
		return;
	}
}

/* The generator splitmix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators). */
static uint64
next_random(uint64 *state)
{
	uint64		z = (*state += UINT64CONST(0x9E3779B97F4A7C15));

	z = (z ^ (z >> 30)) * UINT64CONST(0xBF58476D1CE4E5B9);
	z = (z ^ (z >> 27)) * UINT64CONST(0x94D049BB133111EB);
	return z ^ (z >> 31);
}

/* Exchanges every place with one drawn from those up to it (Fisher and Yates). */
static void
shuffle(uint64 seed)
{
	for (int64 last = place_count - 1; last > 0; last--)
	{
		int64		other = next_random(&seed) % (last + 1);
		ItemPointerData place = places[last];

		places[last] = places[other];
		places[other] = place;
	}
}

/* Fails unless the table is the prepared one and has the tuples from `first` on. */
static void
check_prepared(Oid table, int64 first, int64 count)
{
	if (table != prepared || first < 0 || count < 1 || first + count > place_count)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("tuples " INT64_FORMAT " to " INT64_FORMAT " of table %u are not prepared",
						first, first + count, table)));
}

static void
check_held(Relation table, ItemPointer place, bool expected)
{
	LOCKTAG		tag;

	SET_LOCKTAG_TUPLE(tag, table->rd_lockInfo.lockRelId.dbId, table->rd_lockInfo.lockRelId.relId,
					  ItemPointerGetBlockNumber(place), ItemPointerGetOffsetNumber(place));
	if (LockHeldByMe(&tag, TUPLE_LOCK) != expected)
		elog(ERROR, "the tuple lock is %s", expected ? "not held" : "still held");
}

static Datum
as_array(const int32 *values, int64 count)
{
	Datum	   *elements = palloc(count * sizeof(Datum));

	for (int64 i = 0; i < count; i++)
		elements[i] = Int32GetDatum(values[i]);
	return PointerGetDatum(construct_array(elements, (int) count, INT4OID, sizeof(int32), true,
										   TYPALIGN_INT));
}

static int32
as_latency(int64 nanoseconds)
{
	return (int32) Min(nanoseconds, PG_INT32_MAX);
}

/*
 * lockstep_prepare(table regclass, most bigint, shuffled bool, seed bigint): collects at most that
 * many tuples as they were inserted, or shuffled; how many there are.
 */
PG_FUNCTION_INFO_V1(lockstep_prepare);
Datum
lockstep_prepare(PG_FUNCTION_ARGS)
{
	Oid			oid = PG_GETARG_OID(0);
	int64		most = PG_GETARG_INT64(1);
	bool		shuffled = PG_GETARG_BOOL(2);
	uint64		seed = (uint64) PG_GETARG_INT64(3);
	Relation	table = table_open(oid, AccessShareLock);
	TupleTableSlot *slot = table_slot_create(table, NULL);
	TableScanDesc scan = table_beginscan(table, GetActiveSnapshot(), 0, NULL);

	prepared = InvalidOid;
	place_count = 0;
	if (places != NULL)
		pfree(places);
	places = NULL;
	places = MemoryContextAllocHuge(TopMemoryContext, Max(most, 1) * sizeof(*places));
	while (place_count < most && table_scan_getnextslot(scan, ForwardScanDirection, slot))
	{
		CHECK_FOR_INTERRUPTS();
		places[place_count++] = slot->tts_tid;
	}
	table_endscan(scan);
	ExecDropSingleTupleTableSlot(slot);
	table_close(table, AccessShareLock);

	if (shuffled)
		shuffle(seed);
	stay_on_one_processor();
	prepared = oid;
	PG_RETURN_INT64(place_count);
}

/* lockstep_pair(table regclass, first bigint, count bigint): ns of one LockTuple and UnlockTuple. */
PG_FUNCTION_INFO_V1(lockstep_pair);
Datum
lockstep_pair(PG_FUNCTION_ARGS)
{
	Oid			oid = PG_GETARG_OID(0);
	int64		first = PG_GETARG_INT64(1);
	int64		count = PG_GETARG_INT64(2);
	Relation	table;
	int64		start;
	int64		end;

	check_prepared(oid, first, count);
	table = table_open(oid, RowShareLock);
	start = now();
	for (int64 i = first; i < first + count; i++)
	{
		LockTuple(table, &places[i], TUPLE_LOCK);
		UnlockTuple(table, &places[i], TUPLE_LOCK);
	}
	end = now();
	CHECK_FOR_INTERRUPTS();
	table_close(table, RowShareLock);
	PG_RETURN_FLOAT8((double) (end - start) / count);
}

/*
 * lockstep_lock(table regclass, first bigint, count bigint): ns of each LockTuple; each is unlocked
 * before the next.
 */
PG_FUNCTION_INFO_V1(lockstep_lock);
Datum
lockstep_lock(PG_FUNCTION_ARGS)
{
	Oid			oid = PG_GETARG_OID(0);
	int64		first = PG_GETARG_INT64(1);
	int64		count = PG_GETARG_INT64(2);
	Relation	table;
	int32	   *latencies;

	check_prepared(oid, first, count);
	table = table_open(oid, RowShareLock);
	latencies = palloc(count * sizeof(*latencies));
	for (int64 i = 0; i < count; i++)
	{
		ItemPointer place = &places[first + i];
		int64		start = now();

		LockTuple(table, place, TUPLE_LOCK);
		latencies[i] = as_latency(now() - start);
		if (i == 0)
			check_held(table, place, true);
		UnlockTuple(table, place, TUPLE_LOCK);
		if (i == 0)
			check_held(table, place, false);
		CHECK_FOR_INTERRUPTS();
	}
	table_close(table, RowShareLock);
	PG_RETURN_DATUM(as_array(latencies, count));
}

/*
 * lockstep_lock_row(table regclass): ns of each heap_lock_tuple, which is what SELECT FOR UPDATE
 * calls: it marks the tuple on its page, and writes that to the log. All are held to the end of
 * the transaction.
 */
PG_FUNCTION_INFO_V1(lockstep_lock_row);
Datum
lockstep_lock_row(PG_FUNCTION_ARGS)
{
	Oid			oid = PG_GETARG_OID(0);
	CommandId	command = GetCurrentCommandId(true);
	Relation	table;
	int32	   *latencies;

	check_prepared(oid, 0, place_count);
	table = table_open(oid, RowShareLock);
	latencies = palloc(place_count * sizeof(*latencies));
	for (int64 i = 0; i < place_count; i++)
	{
		HeapTupleData tuple;
		Buffer		buffer;
		TM_FailureData failure;
		TM_Result	result;
		int64		start = now();

		tuple.t_self = places[i];
		result = heap_lock_tuple(table, &tuple, command, LockTupleExclusive, LockWaitError, false,
								 &buffer, &failure);
		ReleaseBuffer(buffer);
		latencies[i] = as_latency(now() - start);
		if (result != TM_Ok)
			elog(ERROR, "a tuple that nobody else uses was not locked: result %d", (int) result);
		CHECK_FOR_INTERRUPTS();
	}
	table_close(table, RowShareLock);
	PG_RETURN_DATUM(as_array(latencies, place_count));
}

/* lockstep_clock(count bigint): ns of one reading of the clock. */
PG_FUNCTION_INFO_V1(lockstep_clock);
Datum
lockstep_clock(PG_FUNCTION_ARGS)
{
	int64		count = Max(PG_GETARG_INT64(0), 1);
	int64		start = now();
	int64		end = start;

	for (int64 i = 0; i < count; i++)
		end = now();
	PG_RETURN_FLOAT8((double) (end - start) / count);
}
