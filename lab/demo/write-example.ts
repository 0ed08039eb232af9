/** `node lab/demo/write-example.ts`: writes the snapshot of `examples/plan/`, which a test compares. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { snapshotToJson } from '../../lambda/adapters/snapshot-schema.ts';
import { loadConfig } from '../../lambda/config/load.ts';
import { exampleSnapshot } from './example-snapshot.ts';

const FOLDER = join(import.meta.dirname, '../../examples/plan');

const { config } = loadConfig(join(FOLDER, 'autoscaler.yaml'));
const snapshot = snapshotToJson(await exampleSnapshot(config));
writeFileSync(join(FOLDER, 'snapshot.json'), `${JSON.stringify(snapshot, null, 2)}\n`);
