/** Decides in one checkout: `node decision-process.ts CHECKOUT FLEET RUNS`, where FLEET is a serialized `FleetFile`. */
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { deserialize } from 'node:v8';
import type { Snapshot } from '../../lambda/decision/model/snapshot.ts';
import type { Fleet } from './fleet.ts';

export type FleetFile = { readonly snapshot: Snapshot; readonly config: ReturnType<Fleet['config']> };

export type DecisionFigures = {
  /** The least processor time of a decision on a new snapshot, in milliseconds: other work adds to it. */
  readonly cpuMs: number;
  readonly plan: string;
};

const [checkout = '', file = '', runs = '1'] = process.argv.slice(2);
const load = (path: string) => import(pathToFileURL(join(resolve(checkout), 'lambda', path)).href);
const { decide }: typeof import('../../lambda/decision/decide.ts') = await load('decision/decide.ts');
const { checkConfig }: typeof import('../../lambda/config/check.ts') = await load('config/check.ts');

const bytes = readFileSync(file);
const { config } = checkConfig((deserialize(bytes) as FleetFile).config);
let [least, plan] = [Number.POSITIVE_INFINITY, ''];
for (let run = 0; run < Number(runs); run++) {
  const { snapshot } = deserialize(bytes) as FleetFile;
  const before = process.cpuUsage();
  const decided = decide(snapshot, config);
  const { user, system } = process.cpuUsage(before);
  least = Math.min(least, (user + system) / 1_000);
  plan = JSON.stringify(decided);
}
process.stdout.write(JSON.stringify({ cpuMs: least, plan } satisfies DecisionFigures));
