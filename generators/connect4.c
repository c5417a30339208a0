/* Writes the book of Connect Four's best bot, and proves the bot perfect by playing all games against it.

   gcc -O3 -march=native -o /tmp/connect4 generators/connect4.c
   /tmp/connect4 < pbmserv/games/connect4.book | LC_ALL=C sort > /tmp/connect4.book

   The bot plays as `perfect_column` of pbmserv/games/connect4.py does, and the other player does anything, as first or
   second player. A position that the bot meets and cannot prove within its budget goes into the book; moves of the old
   book are kept. The program stops with a message if a game ends worse for the bot than the position before was worth.
   The worth comes from the bot's proof; for positions of the book, from a search without a limit. The search is
   `Proof.holds` and counts the same positions. It takes 3 GB. */

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef uint64_t bits;

enum { LEAST = 8, BUDGET = 400000, QUICK = 3, SMALL = 20, LARGE = 27, BOOK = 18, MET = 28, OPEN = 2, SPENT = -2 };
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

/* Finds the column that the bot proves, and returns the worth: 1, 0, -1 or SPENT. If all is lost, the column is the one
   that takes longest to refute. */
static int proved(bits mine, bits taken, int *column) {
    bits listed[7];
    int count = ordered(mine, taken, cells_that_do_not_lose(mine ^ taken, taken), listed);
    long longest = -1;
    left = BUDGET, is_limited = 1, is_spent = 0;
    int worth = -1;
    for (int wants_win = 1; wants_win >= 0 && worth == -1; wants_win--) {
        if (++generation >> 14) memset(small_table, 0, sizeof(bits) << SMALL), generation = 1;
        for (int n = 0; n < count && worth == -1; n++) {
            long before = left;
            int is_good = !holds(mine ^ taken, taken | listed[n], !wants_win);
            if (is_spent) worth = SPENT;
            else if (is_good) worth = wants_win, *column = column_of(listed[n]);
            else if (!wants_win && before - left > longest) longest = before - left, *column = column_of(listed[n]);
        }
    }
    is_limited = is_spent = 0;
    return worth;
}

static bits old_book[1 << BOOK], *met;
static long entries, positions, most, checked, quick;

static bits *place_in(bits *table, int size, bits key) {
    bits at = (key + 1) * 0x9E3779B97F4A7C15 >> (64 - size);
    while (table[at] && table[at] >> 3 != key + 1) at = at + 1 & ((bits)1 << size) - 1;
    return table + at;
}

static int wins_at_once(bits mine, bits taken) { return !!(winning_cells(mine, taken) & free_cells(taken)); }

/* Returns 1 + the column of a win that needs at most so many moves before the last one, or 0. */
static int forced(bits mine, bits taken, int moves) {
    bits listed[7];
    int count = ordered(mine, taken, cells_that_do_not_lose(mine ^ taken, taken), listed);
    for (int n = 0; n < count; n++) {
        bits then = mine | listed[n], filled = taken | listed[n];
        if (filled == BOARD || !winning_cells(then, filled)) continue;
        bits replies = cells_that_do_not_lose(then, filled);
        if (moves == 1 && replies) continue;
        for (; replies; replies &= replies - 1) {
            if (!forced(then, filled | replies & -replies, moves - 1)) break;
        }
        if (!replies) return 1 + column_of(listed[n]);
    }
    return 0;
}

static void fail(const char *why, bits mine, bits taken) {
    fprintf(stderr, "%s: %llx\n", why, (unsigned long long)(mine + taken));
    exit(1);
}

/* Finds the move for the book, and returns the worth. */
static int searched(bits mine, bits taken, int *column) {
    bits listed[7];
    int worth = holds(mine, taken, 1) ? 1 : holds(mine, taken, 0) - 1;
    int count = ordered(mine, taken, cells_that_do_not_lose(mine ^ taken, taken), listed);
    for (int n = 0; n < count; n++)
        if (worth < 0 || !holds(mine ^ taken, taken | listed[n], !worth)) return *column = column_of(listed[n]), worth;
    fail("no move", mine, taken);
    return 0;
}

/* Plays all games that go on from a position with the bot to move. Returns the worst end for the bot: 1, 0 or -1. */
static int worst_end(bits mine, bits taken) {
    if (taken == BOARD) return 0;
    if (wins_at_once(mine, taken)) return 1;
    bits key = lower_key(mine + taken), theirs = mine ^ taken, free = free_cells(taken), listed[7];
    if (mine + taken != key) return worst_end(mirrored(mine), mirrored(taken));
    bits *place = place_in(met, MET, key);
    if (*place) return (int)(*place & 7) - 1;
    int column, worth, is_in_book = 0;
    bits safe = cells_that_do_not_lose(theirs, taken), threats = winning_cells(theirs, taken) & free;
    bits old = *place_in(old_book, BOOK, key);
    if (!safe) {
        ordered(mine, taken, threats ? threats : free, listed);
        column = column_of(listed[0]), worth = -1;
    } else if (column = forced(mine, taken, QUICK)) column--, worth = 1, quick++;
    else {
        worth = SPENT;
        if (__builtin_popcountll(taken) >= LEAST) worth = proved(mine, taken, &column);
        if (worth != SPENT) most = BUDGET - left > most ? BUDGET - left : most;
        else if (is_in_book = 1, old) column = old & 7, worth = OPEN;
        else worth = searched(mine, taken, &column);
    }
    bits cell = free & (bits)0x3F << 7 * column, next = taken | cell;
    if (!cell) fail("full column", mine, taken);
    int worst = next == BOARD ? 0 : wins_at_once(theirs, next) ? -1 : 1;
    for (bits replies = free_cells(next); replies; replies &= replies - 1) {
        bits reply = replies & -replies;
        if (winning_cells(theirs, next) & reply) continue;
        int end = worst_end(mine | cell, next | reply);
        worst = end < worst ? end : worst;
    }
    if (worth == OPEN) {
        worth = worst > 0 || holds(mine, taken, 1) ? 1 : worst == 0 || holds(mine, taken, 0) ? 0 : -1;
        checked++;
    }
    if (worst != worth) fail("not perfect", mine, taken);
    *place_in(met, MET, key) = key + 1 << 3 | worst + 1;
    positions++;
    if (is_in_book) printf("%llx %c\n", (unsigned long long)key, 'A' + column), fflush(stdout), entries++;
    if (positions % 1000000 == 0) fprintf(stderr, "%ld million, %ld in the book\n", positions / 1000000, entries);
    return worst;
}

int main(int count, char **words) {
    small_table = calloc((size_t)1 << SMALL, sizeof(bits));
    large_table = calloc((size_t)1 << LARGE, sizeof(bits));
    met = calloc((size_t)1 << MET, sizeof(bits));
    unsigned long long key;
    for (char column; scanf("%llx %c", &key, &column) == 2;) *place_in(old_book, BOOK, key) = key + 1 << 3 | column - 'A';
    const char *begun = count > 1 ? words[1] : "-ABCD"; /* the first moves of the other player; "-": the bot begins */
    for (; *begun; begun++) {
        int worst = worst_end(0, *begun == '-' ? 0 : (bits)1 << 7 * (*begun - 'A'));
        fprintf(stderr, "%c: at worst %s; %ld positions met, %ld in the book, %ld won quickly, at most %ld for a proof\n",
                *begun, worst > 0 ? "a win" : worst ? "a loss" : "a draw", positions, entries, quick, most);
    }
    return 0;
}
