/**
 * Ports that fetch refuses to talk to, above the range a user process may bind
 * (the "bad ports" of the Fetch standard). A server that gets one is unreachable
 * for the host and for the tests alike.
 */
const blocked = new Set([
  1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566,
  6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080,
])

/** Whether fetch refuses this port. Ports below 1024 are never handed out and count as refused. */
export function isBlockedPort(port: number): boolean {
  return port < 1024 || blocked.has(port)
}
