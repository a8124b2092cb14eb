/* What any batched environment must pay that writes as much as ours: the second yardstick.
 *
 * A "game" does a fixed amount of dependent integer work (22 rounds are about 50 ns at 3 GHz) in place of
 * rules, then clears and fills an observation and a mask of given sizes. No action is chosen, nothing is
 * checked, nothing ends but by a counter: an environment with rules can come near, not below.
 */
#include <stdint.h>
#include <string.h>

#define WORDS 10
#define LEGAL 8
#define EPISODE 250

typedef struct {
    uint64_t state;
    uint64_t seen[WORDS]; /* the last states: what the observation shows */
    int64_t turn;
} Game;

int64_t floor_game_size(void) { return (int64_t)sizeof(Game); }

static inline uint64_t work(uint64_t x, int64_t rounds) {
    for (int64_t i = 0; i < rounds; i++) {
        x ^= x >> 29;
        x *= UINT64_C(0xBF58476D1CE4E5B9);
        x ^= x >> 32;
    }
    return x;
}

void floor_start(Game *games, int64_t count) {
    memset(games, 0, (size_t)count * sizeof(Game));
    for (int64_t i = 0; i < count; i++) games[i].state = work((uint64_t)i + 1, 8);
}

/* One step of all games. observation: [count][size], mask: [count][actions], rewards: [count][4]. */
void floor_step(Game *games, int64_t count, const int64_t *actions, int64_t rounds, uint8_t *observation,
                int64_t size, uint8_t *mask, int64_t num_actions, double *rewards, int64_t *ended) {
    for (int64_t i = 0; i < count; i++) {
        Game *game = &games[i];
        uint8_t *seen = observation + i * size, *legal = mask + i * num_actions;
        game->state = work(game->state ^ (uint64_t)actions[i], rounds);
        game->seen[game->turn % WORDS] = game->state;
        game->turn++;
        memset(seen, 0, (size_t)size);
        memset(legal, 0, (size_t)num_actions);
        for (int k = 0; k < WORDS; k++) { /* six stores of ten bits each: 60 */
            uint64_t bits = game->seen[k];
            for (int j = 0; j < 6; j++) {
                seen[((bits & 1023) * (uint64_t)size) >> 10] = 1;
                bits >>= 10;
            }
        }
        uint64_t bits = game->state;
        for (int k = 0; k < LEGAL; k++) {
            legal[((bits & 127) * (uint64_t)num_actions) >> 7] = 1;
            bits >>= 7;
        }
        int over = game->turn == EPISODE;
        ended[i] = over;
        for (int k = 0; k < 4; k++) rewards[4 * i + k] = over ? (double)k : 0.0;
        if (over) {
            game->turn = 0;
            memset(game->seen, 0, sizeof game->seen);
        }
    }
}
