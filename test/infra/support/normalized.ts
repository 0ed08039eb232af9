/**
 * The template without asset hashes and the text of the guard, which change with the code, and without the
 * settings' tag and CDK's names, which nearly all resources have.
 */
export function normalized(template: object): string {
  const text = JSON.stringify(template, (key, value) => shown(key, value), 2);
  return `${text.replaceAll(/\b[0-9a-f]{64}\b/g, '<hash>')}\n`;
}

const EVERYWHERE: readonly unknown[] = ['cost-center', 'Name'];

function shown(key: string, value: unknown): unknown {
  if (key === 'Mappings') return Object.keys(value as object);
  if (key !== 'Tags' || !Array.isArray(value)) return value;
  const own = value.filter(({ Key }) => !EVERYWHERE.includes(Key));
  return own.length === 0 ? undefined : own;
}
