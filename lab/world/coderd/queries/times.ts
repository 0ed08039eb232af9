/** As Go formats a time from Postgres: microseconds without trailing zeros, `…:00Z` for a whole second. */
export function rfc3339(epochMs: number): string {
  if (Number.isInteger(epochMs)) return new Date(epochMs).toISOString().replace(/\.?0*Z$/, 'Z');
  const micros = Math.round(epochMs * 1_000);
  const seconds = Math.floor(micros / 1_000_000);
  const fraction = String(micros - seconds * 1_000_000)
    .padStart(6, '0')
    .replace(/0+$/, '');
  const whole = new Date(seconds * 1_000).toISOString().slice(0, 19);
  return fraction === '' ? `${whole}Z` : `${whole}.${fraction}Z`;
}

export function optionalTime(time: number | undefined): string | undefined {
  return time === undefined ? undefined : rfc3339(time);
}
