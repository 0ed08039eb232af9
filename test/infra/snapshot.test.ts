import { expect, it } from 'vitest';
import { EVERYTHING, synthesize } from './support/synthesized.ts';

/** Without what changes with every line of code: hashes of assets, and the text of the guard. */
function normalized(template: object): string {
  const text = JSON.stringify(template, (key, value) => (key === 'Mappings' ? Object.keys(value) : value), 2);
  return `${text.replaceAll(/\b[0-9a-f]{64}\b/g, '<hash>')}\n`;
}

/** For review: whoever changes it reads what a deployment with everything on would become. `npx vitest -u` writes it anew. */
it('makes this template of a deployment with everything on', async () => {
  const template = normalized(synthesize(EVERYTHING).toJSON());
  await expect(template).toMatchFileSnapshot('__snapshots__/everything.template.snap');
});
