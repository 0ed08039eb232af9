/** A record that a newer version of the autoscaler wrote, after a rollback: real adapter, simulated Systems Manager. */
import { setImmediate as answered } from 'node:timers/promises';
import { deflateRawSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { inProcessParameters } from '../../../lab/world/in-process/ports.ts';
import { ParametersModel } from '../../../lab/world/parameters/model.ts';
import { RecordParameter } from '../../../lambda/adapters/parameters/record-parameter.ts';
import type { EpochMs, OrganizationId } from '../../../lambda/decision/model/brands.ts';
import { normalizeTags } from '../../../lambda/decision/model/tags.ts';
import { KeptRecord, type StockRecord } from '../../../lambda/look/stock/kept-record.ts';
import { MINUTE, NOW } from '../../support/parts.ts';

const NAME = '/coder-provisioner-autoscaler/Stack/record';
const textOf = (record: object): string => deflateRawSync(JSON.stringify(record)).toString('base64');
const NEWER = textOf({ version: 2, builds: 'in another form' });

/** A process of this version, which has learned one build, and has a look each minute. */
function start(parameters: ParametersModel) {
  const warnings: string[] = [];
  const loaded: StockRecord[] = [];
  const learned: StockRecord = {
    organizations: [
      {
        id: 'data' as OrganizationId,
        upTo: NOW,
        logs: [{ tags: normalizeTags({}), builds: [{ at: NOW - MINUTE, tookMs: 60_000 }] }],
      },
    ],
    choices: [],
  };
  let now = NOW as number;
  const kept = new KeptRecord({
    learner: { save: () => learned, load: (record) => loaded.push(record) },
    store: new RecordParameter(inProcessParameters(parameters), NAME),
    clock: { now: () => now as EpochMs, sleep: () => new Promise(() => {}) },
    onFailure: (message) => warnings.push(message),
  });
  const lookFor = async (minutes: number): Promise<void> => {
    for (let passed = 0; passed < minutes; passed += 1) {
      await kept.ready();
      kept.restore(now as EpochMs);
      await kept.save();
      // later looks do not wait for the answer
      await answered();
      now += MINUTE;
    }
  };
  return { warnings, loaded, lookFor };
}

it('is left as it is, with a warning an hour, so that the newer version goes on from it', async () => {
  const parameters = new ParametersModel();
  parameters.put(NAME, NEWER, 'Advanced');
  const { warnings, loaded, lookFor } = start(parameters);
  await lookFor(181);
  expect(parameters.find(NAME)).toBe(NEWER);
  expect(loaded).toEqual([]);
  const warning = `reading the record of builds: SSM parameter ${NAME}: a newer version of the autoscaler wrote it. This version neither uses nor replaces it, so each cold start learns again. Deploy the newer version, or delete the parameter (docs/operate.md, "The record of builds")`;
  expect(warnings).toEqual(Array(4).fill(warning));
});

it('is replaced within an hour of the day that somebody deletes it', async () => {
  const parameters = new ParametersModel();
  parameters.put(NAME, NEWER, 'Advanced');
  const { warnings, lookFor } = start(parameters);
  await lookFor(30);
  parameters.delete(NAME);
  await lookFor(32);
  expect(warnings).toHaveLength(1);
  const next = start(parameters);
  await next.lookFor(1);
  expect(next.loaded).toMatchObject([{ organizations: [{ id: 'data' }] }]);
});

it.each([
  { text: 'none', because: 'the first value of the stack' },
  { text: textOf({ version: 1, organizations: 'lost' }), because: 'a broken one of this version' },
  { text: textOf({ version: '2' }), because: 'no number of a version' },
])('is not $text, which is replaced: $because', async ({ text }) => {
  const parameters = new ParametersModel();
  parameters.put(NAME, text, 'Advanced');
  const { warnings, lookFor } = start(parameters);
  await lookFor(1);
  expect(parameters.find(NAME)).not.toBe(text);
  expect(warnings).toEqual([]);
});
