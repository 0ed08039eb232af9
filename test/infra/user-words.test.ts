/** A pool, tags and variables that are called as a field of every object, in the template. */
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { setTripwire, TRIPWIRE } from '../support/tripwire.ts';
import { deployment, synthesize } from './support/synthesized.ts';
import { containerOf, taskOf } from './support/template-parts.ts';

setTripwire();

const WORDS = ['__proto__', 'constructor', 'toString', TRIPWIRE];
const tags = Object.fromEntries(WORDS.map((word) => [word, 'x']));

it.each(['constructor', TRIPWIRE])('a pool %s gets its tags and variables', (name) => {
  const others = { name: 'other', organization: 'default', tags };
  const settings = {
    ...deployment([
      { name, organization: name, key: { secret: 'key' }, environment: tags },
      { ...others, psk: { secret: 'psk' } },
      { ...others, name: 'managed', organization: name, key: 'managed' },
    ]),
    managedKeys: { token: { secret: 'coder/key-manager-token' } },
  };
  const template = synthesize(settings);
  const { Environment } = taskOf(template, name).ContainerDefinitions[0];
  for (const word of WORDS) expect(Environment).toContainEqual({ Name: word, Value: 'x' });
  const variables = containerOf(template, 'other').Environment;
  const sent = variables.find(({ Name }) => Name === 'CODER_PROVISIONERD_TAGS');
  expect(sent?.Value.split(',')).toEqual(WORDS.map((word) => `${word}=x`).sort());
  const [key] = Object.values(template.findResources('Custom::CoderProvisionerKey'));
  expect(Object.keys(parse(key?.Properties.Tags)).sort()).toEqual(WORDS.toSorted());
});
