const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

export const isUuid = (text: string): boolean => UUID.test(text);

/** The error text of Go's uuid.Parse. */
export function uuidFlaw(text: string): string {
  return text.length === 36 ? 'invalid UUID format' : `invalid UUID length: ${text.length}`;
}
