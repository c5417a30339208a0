/* Writes the book of Connect Four's best bot: every position that it can meet and cannot prove within its budget.

   gcc -O3 -march=native -o /tmp/connect4 generators/connect4.c
   /tmp/connect4 < pbmserv/games/connect4.book | LC_ALL=C sort > /tmp/connect4.book

   The moves of the old book are kept, so that nothing changes unless the bot's search does. From an empty book it takes
   ten minutes and 1 GB. The search is `Proof.holds` of pbmserv/games/connect4.py and counts the same positions; with a
   table of its own and no limit it also finds the moves. Games with random moves go on from where the book ends, and
   stderr says how many positions in them need more than the bot's budget. */

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef uint64_t bits;

enum { LEAST = 8, LEFT_TO_PROOF = 400000, BUDGET = 450000, WALKS = 20, SMALL = 20, LARGE = 27, BOOK = 18 };
static const int MIDDLE_FIRST[7] = {3, 2, 4, 1, 5, 0, 6};
static const bits BOTTOM = 0x40810204081, BOARD = BOTTOM * 0x3F, EVEN_ROWS = BOTTOM * 0x2A;

static bits winning_cells(bits mine, bits taken) {
    bits cells = mine << 1 & mine << 2 & mine << 3;
    for (int step = 6; step <= 8; step++) {
        bits up = mine << step & mine << 2 * step, down = mine >> step & mine >> 2 * step;
        cells |= up & (mine << 3 * step | mine >> step);
        cells |= down & (mine << step | mine >> 3 * step);
    }
    return cells & (BOARD ^ taken);
}

static int has_four(bits discs) {
    static const int steps[4] = {1, 7, 6, 8};
    for (int n = 0; n < 4; n++) {
        bits pairs = discs & discs >> steps[n];
        if (pairs & pairs >> 2 * steps[n]) return 1;
    }
    return 0;
}

static bits free_cells(bits taken) { return taken + BOTTOM & BOARD; }

static bits cells_that_do_not_lose(bits theirs, bits taken) {
    bits threats = winning_cells(theirs, taken), forced = free_cells(taken) & threats;
    if (forced & forced - 1) return 0;
    return (forced ? forced : free_cells(taken)) & ~(threats >> 1);
}

static int ordered(bits mine, bits taken, bits cells, bits *listed) {
    int count = 0, threats[7];
    for (int n = 0; n < 7; n++) {
        bits cell = cells & (bits)0x3F << 7 * MIDDLE_FIRST[n];
        if (!cell) continue;
        int these = __builtin_popcountll(winning_cells(mine | cell, taken | cell)), at = count++;
        for (; at && threats[at - 1] < these; at--) threats[at] = threats[at - 1], listed[at] = listed[at - 1];
        threats[at] = these, listed[at] = cell;
    }
    return count;
}

static int column_of(bits cell) { return __builtin_ctzll(cell) / 7; }

static bits mirrored(bits position) {
    bits mirror = 0;
    for (int column = 0; column < 7; column++) mirror |= (position >> 7 * column & 0x7F) << 7 * (6 - column);
    return mirror;
}

static bits lower_key(bits key) { return mirrored(key) < key ? mirrored(key) : key; }

/* A proof's table is emptied by a new generation (14 bits of an entry, beside 49 of the key and the result). The other
   table is never emptied; new entries overwrite old ones. */

static bits *small_table, *large_table, generation;
static int is_limited, is_spent;
static long left;

static bits *entry_of(bits key, int wants_win) {
    bits *entry;
    if (!is_limited) return large_table + ((lower_key(key) * 2 + wants_win + 1) * 0x9E3779B97F4A7C15 >> (64 - LARGE));
    bits at = (key + 1) * 0x9E3779B97F4A7C15 >> (64 - SMALL);
    while (entry = small_table + at, *entry >> 50 == generation && (*entry >> 1 & ((bits)1 << 49) - 1) != key)
        at = at + 1 & ((bits)1 << SMALL) - 1;
    return entry;
}

static bits written(bits key, int wants_win, int result) {
    return is_limited ? generation << 50 | key << 1 | result : (lower_key(key) * 2 + wants_win + 1) * 2 + result;
}

static int known(bits key, int wants_win) {
    bits entry = *entry_of(key, wants_win);
    for (int result = 0; result < 2; result++)
        if (entry == written(key, wants_win, result)) return result;
    return -1;
}

static int holds(bits mine, bits taken, int wants_win) {
    if (is_limited && --left < 0) return is_spent = 1, 0;
    bits theirs = mine ^ taken, free = BOARD ^ taken, listed[7];
    if (!free) return !wants_win;
    bits cells = cells_that_do_not_lose(theirs, taken);
    if (!cells) return 0;
    if (!has_four(BOARD ^ (wants_win ? theirs : mine))) return !wants_win;
    if (!(taken + BOTTOM & EVEN_ROWS) && !has_four(mine | free & ~EVEN_ROWS) &&
        (wants_win || has_four(theirs | free & EVEN_ROWS)))
        return 0;
    bits key = mine + taken;
    int result = known(key, wants_win);
    if (result >= 0) return result;
    int count = ordered(mine, taken, cells, listed);
    result = 0;
    for (int n = 0; n < count && !result; n++) result = known(theirs + (taken | listed[n]), !wants_win) == 0;
    for (int n = 0; n < count && !result; n++) {
        result = !holds(theirs, taken | listed[n], !wants_win);
        if (is_spent) return 0;
    }
    *entry_of(key, wants_win) = written(key, wants_win, result);
    return result;
}

/* Returns the column that the bot proves, -1 if it proves that it has lost, -2 if its budget does not suffice. */
static int proved(bits mine, bits taken, long budget) {
    bits listed[7];
    int column = -1, count = ordered(mine, taken, cells_that_do_not_lose(mine ^ taken, taken), listed);
    left = budget, is_limited = 1, is_spent = 0;
    for (int wants_win = 1; wants_win >= 0 && column == -1; wants_win--) {
        if (++generation >> 14) memset(small_table, 0, sizeof(bits) << SMALL), generation = 1;
        for (int n = 0; n < count && column == -1; n++)
            if (!holds(mine ^ taken, taken | listed[n], !wants_win)) column = is_spent ? -2 : column_of(listed[n]);
            else if (is_spent) column = -2;
    }
    is_limited = is_spent = 0;
    return column;
}

static bits book[1 << BOOK], old_book[1 << BOOK];
static long entries, walked, beyond;

static bits *place_of(bits *in, bits key) {
    bits at = (key + 1) * 0x9E3779B97F4A7C15 >> (64 - BOOK);
    while (in[at] && in[at] >> 3 != key + 1) at = at + 1 & (1 << BOOK) - 1;
    return in + at;
}

static int wins_at_once(bits mine, bits taken) { return !!(winning_cells(mine, taken) & free_cells(taken)); }

/* Plays on from the end of the book: the bot keeps its win or draw in any way, the other player does anything. */
static void walk(bits mine, bits taken) {
    while (taken != BOARD && !wins_at_once(mine, taken)) {
        bits theirs = mine ^ taken, listed[7], good[7], cells = cells_that_do_not_lose(theirs, taken);
        if (!cells) return;
        int column = lower_key(mine + taken) == mine + taken ? proved(mine, taken, BUDGET)
                                                             : proved(mirrored(mine), mirrored(taken), BUDGET);
        walked++, beyond += column == -2;
        int wants_win = holds(mine, taken, 1), holds_draw = holds(mine, taken, 0), choices = 0;
        int count = ordered(mine, taken, cells, listed);
        for (int n = 0; n < count; n++)
            if (!holds_draw || !holds(theirs, taken | listed[n], !wants_win)) good[choices++] = listed[n];
        bits cell = good[rand() % choices];
        mine |= cell, taken |= cell;
        count = ordered(theirs, taken, free_cells(taken), listed);
        if (!count || wins_at_once(theirs, taken)) return;
        taken |= listed[rand() % count];
    }
}

/* Adds the positions to the book that can follow, the bot to move; `is_won`: it is known to win. */
static void add(bits mine, bits taken, int is_won) {
    if (taken == BOARD || wins_at_once(mine, taken)) return;
    bits key = lower_key(mine + taken), theirs = mine ^ taken, listed[7], cell = 0;
    if (mine + taken != key) mine = mirrored(mine), taken = mirrored(taken), theirs = mirrored(theirs);
    bits *place = place_of(book, key), old = *place_of(old_book, key), cells = cells_that_do_not_lose(theirs, taken);
    if (*place || !cells) return;
    if (__builtin_popcountll(taken) >= LEAST && proved(mine, taken, LEFT_TO_PROOF) != -2) {
        for (int n = 0; n < WALKS && entries % 10 == 0; n++) walk(mine, taken);
        return;
    }
    int count = ordered(mine, taken, cells, listed);
    if (old) cell = cells & (bits)0x3F << 7 * (old & 7);
    else {
        int can_draw = is_won || holds(mine, taken, 0);
        is_won = is_won || can_draw && holds(mine, taken, 1);
        for (int n = 0; n < count && !cell; n++)
            if (!taken || !can_draw || !holds(theirs, taken | listed[n], !is_won)) cell = listed[n];
    }
    *place = key + 1 << 3 | column_of(cell);
    printf("%llx %c\n", (unsigned long long)key, 'A' + column_of(cell));
    fflush(stdout);
    entries++;
    mine |= cell, taken |= cell;
    if (wins_at_once(theirs, taken)) return;
    count = ordered(theirs, taken, free_cells(taken), listed);
    for (int n = 0; n < count; n++) add(mine, taken | listed[n], is_won);
}

int main(int count, char **words) {
    small_table = calloc((size_t)1 << SMALL, sizeof(bits));
    large_table = calloc((size_t)1 << LARGE, sizeof(bits));
    unsigned long long key;
    for (char column; scanf("%llx %c", &key, &column) == 2;) *place_of(old_book, key) = key + 1 << 3 | column - 'A';
    const char *begun = count > 1 ? words[1] : "-DCBA"; /* the first moves of the other player; "-": the bot begins */
    for (; *begun; begun++) {
        add(0, *begun == '-' ? 0 : (bits)1 << 7 * (*begun - 'A'), *begun == '-');
        fprintf(stderr, "%c: %ld positions; %ld of %ld that follow need more\n", *begun, entries, beyond, walked);
    }
    return 0;
}
