/* The layout signature: what every structure in an arena looks like to this build, member by member, so that
 * a build in which two of them have changed places is told from this one. */
#include <stddef.h>

#include "changes.h"
#include "keyed.h"
#include "layout.h"
#include "quota.h"
#include "trees.h"
#include "txchoice.h"
#include "txgroup.h"
#include "viper/arena.h"

#define AT(type, member) offsetof(type, member)

static const uint64_t facts[] = {
    VP_LINE, VP_GATE_KIND,
    sizeof(vp_arena), AT(vp_arena, magic), AT(vp_arena, version), AT(vp_arena, layout), AT(vp_arena, capacity),
    AT(vp_arena, used),
    sizeof(vp_position), AT(vp_position, ts), AT(vp_position, hi), AT(vp_position, lo),
    AT(vp_position, tree),
    sizeof(vp_line), AT(vp_line, origin), AT(vp_line, step), AT(vp_line, unit),
    sizeof(vp_bell), AT(vp_bell, sequence), AT(vp_bell, sleepers),
    sizeof(vp_quota), AT(vp_quota, limit), AT(vp_quota, left), AT(vp_quota, spent),
    sizeof(vp_account), AT(vp_account, held),
    sizeof(vp_slot), AT(vp_slot, first), AT(vp_slot, first_byte), AT(vp_slot, bytes), AT(vp_slot, before),
    AT(vp_slot, count), AT(vp_slot, on_line), AT(vp_slot, mark), AT(vp_slot, ts), AT(vp_slot, hi), AT(vp_slot, lo),
    sizeof(vp_progress), AT(vp_progress, version), AT(vp_progress, ts), AT(vp_progress, hi), AT(vp_progress, lo),
    AT(vp_progress, last_ts),
    sizeof(vp_note), AT(vp_note, tail), AT(vp_note, tuples), AT(vp_note, bytes), AT(vp_note, ts), AT(vp_note, hi),
    AT(vp_note, lo),
    sizeof(vp_producer_words), AT(vp_producer_words, tail), AT(vp_producer_words, tuples),
    AT(vp_producer_words, bytes), AT(vp_producer_words, refused), AT(vp_producer_words, blocked),
    AT(vp_producer_words, next), AT(vp_producer_words, next_byte), AT(vp_producer_words, claimed),
    AT(vp_producer_words, turn), AT(vp_producer_words, notes),
    sizeof(vp_room_words), AT(vp_room_words, wanting), AT(vp_room_words, bell),
    sizeof(vp_head), AT(vp_head, head), AT(vp_head, delivered), AT(vp_head, runs), AT(vp_head, claimed),
    AT(vp_head, taken),
    sizeof(vp_ring), AT(vp_ring, from_gate), AT(vp_ring, slot_count), AT(vp_ring, tuple_count),
    AT(vp_ring, byte_count), AT(vp_ring, heads_at), AT(vp_ring, slots_at), AT(vp_ring, positions_at),
    AT(vp_ring, bytes_at), AT(vp_ring, producer), AT(vp_ring, progress), AT(vp_ring, room),
    sizeof(vp_reader_words), AT(vp_reader_words, bell), AT(vp_reader_words, expelled), AT(vp_reader_words, rests), AT(vp_reader_words, holding),
    AT(vp_reader_words, working), AT(vp_reader_words, claim), AT(vp_reader_words, claim_end), AT(vp_reader_words, seen),
    AT(vp_reader_words, claims),
    sizeof(vp_gate), AT(vp_gate, kind), AT(vp_gate, at), AT(vp_gate, rings_at), AT(vp_gate, ring_size),
    AT(vp_gate, source_count), AT(vp_gate, reader_count), AT(vp_gate, claims), AT(vp_gate, rests), AT(vp_gate, claimed),
    AT(vp_gate, readers),
    VP_FOREST_KIND, VP_PLACE_BITS, VP_TABLE_BITS, VP_COUNT_BITS, VP_GENERATION_BITS,
    sizeof(vp_tree), AT(vp_tree, state), AT(vp_tree, next), AT(vp_tree, links), AT(vp_tree, swept),
    AT(vp_tree, reason), AT(vp_tree, zombie),
    sizeof(vp_link), AT(vp_link, parent), AT(vp_link, next), AT(vp_link, used),
    sizeof(vp_table), AT(vp_table, done), AT(vp_table, bell), AT(vp_table, taken), AT(vp_table, from_forest),
    AT(vp_table, open), AT(vp_table, index), AT(vp_table, trees_touched), AT(vp_table, links_touched),
    AT(vp_table, first_free), AT(vp_table, last_free), AT(vp_table, free_count), AT(vp_table, free_links),
    sizeof(vp_forest), AT(vp_forest, kind), AT(vp_forest, at), AT(vp_forest, table_size), AT(vp_forest, trees_at),
    AT(vp_forest, links_at), AT(vp_forest, table_count), AT(vp_forest, tree_count), AT(vp_forest, link_count),
    AT(vp_forest, incidents),
    VP_POOL_KIND, VP_POOL_BLOCK,
    sizeof(vp_pool), AT(vp_pool, kind), AT(vp_pool, at), AT(vp_pool, blocks), AT(vp_pool, blocks_at), AT(vp_pool, hint),
    AT(vp_pool, top), AT(vp_pool, words),
    VP_UNDO_FIRST, VP_UNDO_PARTS,
    sizeof(vp_undo), AT(vp_undo, length), AT(vp_undo, owner), AT(vp_undo, parts),
    sizeof(vp_undo_entry), AT(vp_undo_entry, at), AT(vp_undo_entry, before),
    VP_CELL_BITS, VP_HEAP_CLASSES,
    sizeof(vp_heap), AT(vp_heap, owner), AT(vp_heap, bytes), AT(vp_heap, next), AT(vp_heap, end), AT(vp_heap, free),
    VP_FIRST_ROW_BITS, VP_FEW_ROW_BITS, VP_ROW_PARTS,
    sizeof(vp_keyed), AT(vp_keyed, value_words), AT(vp_keyed, index), AT(vp_keyed, index_bits), AT(vp_keyed, used),
    AT(vp_keyed, rows), AT(vp_keyed, live), AT(vp_keyed, parts),
    sizeof(vp_row), AT(vp_row, tag), AT(vp_row, key), AT(vp_row, values),
    sizeof(vp_changes), AT(vp_changes, maps), AT(vp_changes, words), AT(vp_changes, generation), AT(vp_changes, current),
    AT(vp_changes, counts), AT(vp_changes, attempt), AT(vp_changes, saved), AT(vp_changes, tried),
    VP_ROW_COLUMNS, VP_ROW_LENGTH_SHIFT, VP_SHARED_COLUMNS, VP_SHARED_SPARES,
    sizeof(vp_shared), AT(vp_shared, at), AT(vp_shared, rows_at), AT(vp_shared, stride), AT(vp_shared, columns),
    AT(vp_shared, has_defaults), AT(vp_shared, keys_most), AT(vp_shared, numbers), AT(vp_shared, index_at),
    AT(vp_shared, index_bits), AT(vp_shared, states_at), AT(vp_shared, heap_at), AT(vp_shared, heap_bytes),
    AT(vp_shared, next), AT(vp_shared, keys), AT(vp_shared, heap_used), AT(vp_shared, spares), AT(vp_shared, defaults),
    sizeof(vp_tx), AT(vp_tx, size), AT(vp_tx, kind), AT(vp_tx, ordinal), AT(vp_tx, registers), AT(vp_tx, program),
    AT(vp_tx, status), AT(vp_tx, at), AT(vp_tx, input), AT(vp_tx, ts), AT(vp_tx, hi), AT(vp_tx, lo),
    sizeof(vp_tx_instruction), AT(vp_tx_instruction, code), AT(vp_tx_instruction, flags),
    AT(vp_tx_instruction, table), AT(vp_tx_instruction, column), AT(vp_tx_instruction, row),
    AT(vp_tx_instruction, operand),
    sizeof(vp_twice), AT(vp_twice, first), AT(vp_twice, second),
    sizeof(vp_txlog), AT(vp_txlog, ring_at), AT(vp_txlog, bytes), AT(vp_txlog, component), AT(vp_txlog, task),
    AT(vp_txlog, task_words.tail), AT(vp_txlog, task_words.head), AT(vp_txlog, task_words.said),
    AT(vp_txlog, task_words.collected), AT(vp_txlog, evaluator.evaluated), AT(vp_txlog, evaluator.waits),
    sizeof(vp_txbefore), AT(vp_txbefore, at), AT(vp_txbefore, before), VP_TX_UNDO_ROOM,
    sizeof(vp_txmember), AT(vp_txmember, log), AT(vp_txmember, done),
    sizeof(vp_txcursor), AT(vp_txcursor, number), AT(vp_txcursor, ring), AT(vp_txcursor, mask), AT(vp_txcursor, at),
    AT(vp_txcursor, tail), AT(vp_txcursor, reached),
    sizeof(vp_txsegments), AT(vp_txsegments, count), sizeof(vp_txsegment), AT(vp_txsegment, length),
    sizeof(vp_txchoice_words), AT(vp_txchoice_words, serial), AT(vp_txchoice_words, parallel),
    AT(vp_txchoice_words, serial_ps), AT(vp_txchoice_words, parallel_ps), AT(vp_txchoice_words, reason),
    sizeof(vp_txgroup), AT(vp_txgroup, at), AT(vp_txgroup, tables), AT(vp_txgroup, logs), AT(vp_txgroup, tables_at),
    AT(vp_txgroup, elements_at), AT(vp_txgroup, members_at), AT(vp_txgroup, cursors_at), AT(vp_txgroup, losers_at), AT(vp_txgroup, heads_at),
    AT(vp_txgroup, entries_at), AT(vp_txgroup, sorted), AT(vp_txgroup, holder), AT(vp_txgroup, alone),
    AT(vp_txgroup, evaluated), AT(vp_txgroup, undo_length), AT(vp_txgroup, segments),
    AT(vp_txgroup, committed.ts),
    AT(vp_txgroup, committed.hi), AT(vp_txgroup, committed.lo), AT(vp_txgroup, committed.counts),
};

uint64_t vp_arena_layout(void)
{
    uint64_t signature = UINT64_C(14695981039346656037); /* FNV-1a, a word at a time */
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++)
        signature = (signature ^ facts[i]) * UINT64_C(1099511628211);
    return signature;
}
