/** Longest delay that a timer of the platform, and a record of the harness, can hold, in ms (2^31 - 1). */
export const MAX_DELAY_MS = 2_147_483_647
