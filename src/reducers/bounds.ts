/**
 * A map without the older half of its entries, where there are more than a log that the harness wrote can need: no log
 * may make a fold slow.
 *
 * @param map - the map; not changed.
 * @param most - entries that it may have.
 * @returns the same map while it is within bounds.
 */
export function withinBounds<T>(map: Readonly<Record<string, T>>, most: number): Readonly<Record<string, T>> {
  const keys = Object.keys(map)
  return keys.length <= most ? map : Object.fromEntries(keys.slice(-Math.ceil(most / 2)).map(key => [key, map[key] as T]))
}
