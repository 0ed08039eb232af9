import { expect, it } from 'vitest';
import { EVERYTHING, synthesize } from './support/synthesized.ts';

/** The template without asset hashes and the text of the guard, which change with the code. */
function normalized(template: object): string {
  const text = JSON.stringify(template, (key, value) => (key === 'Mappings' ? Object.keys(value) : value), 2);
  return `${text.replaceAll(/\b[0-9a-f]{64}\b/g, '<hash>')}\n`;
}

/**
 * For reviews: the difference shows how a change alters a deployment with all settings. `npx vitest
 * -u` writes the file again.
 */
it('makes this template of a deployment with everything on', async () => {
  const template = normalized(synthesize(EVERYTHING).toJSON());
  await expect(template).toMatchFileSnapshot('__snapshots__/everything.template.snap');
});
