/** `autoscaler image` over HTTP, with the files in a temporary folder. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, vi } from 'vitest';
import { stringify } from 'yaml';
import type { EpochMs } from '../../../lambda/decision/model/brands.ts';
import { ACCESS_KEY_OF_A_PERSON } from '../../../simulator/aws-http.ts';
import { type Answer, runIn } from '../../support/cli-run.ts';
import { type Lab, type LabPool, labConfig, startLab } from '../../support/lab.ts';

export const CPU: LabPool = { name: 'cpu', organization: 'default', tags: {} };
export const GPU: LabPool = { name: 'gpu', organization: 'default', tags: { cluster: 'gpu' } };

export type ImageLabOptions = {
  readonly pools?: readonly LabPool[];
  /** Settings of the pools in the file, by name. */
  readonly settings?: Readonly<Record<string, object>>;
};

export type ImageLab = {
  readonly lab: Lab;
  /** The folder that the command writes. */
  readonly out: string;
  readonly run: (...args: readonly string[]) => Promise<Answer>;
  readonly runAs: (
    environment: Readonly<Record<string, string>>,
    ...args: readonly string[]
  ) => Promise<Answer>;
};

export function imageLabs() {
  let folder = '';
  const labs: Lab[] = [];
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'autoscaler-image-'));
    vi.stubEnv('AWS_ACCESS_KEY_ID', ACCESS_KEY_OF_A_PERSON);
  });
  afterEach(async () => {
    vi.unstubAllEnvs();
    for (const lab of labs.splice(0)) await lab.close();
    rmSync(folder, { recursive: true });
  });
  const start = async ({ pools = [CPU], settings = {} }: ImageLabOptions = {}): Promise<ImageLab> => {
    const lab = await startLab({ pools });
    labs.push(lab);
    const written = labConfig(lab.coderdUrl, pools);
    const configured = (written.pools as readonly { readonly name: string }[]).map((pool) => ({
      ...pool,
      ...settings[pool.name],
    }));
    const file = join(folder, 'autoscaler.yaml');
    writeFileSync(file, stringify({ ...written, pools: configured }));
    const out = join(folder, 'image');
    const runAs: ImageLab['runAs'] = async (environment, ...args) => {
      const now = (): EpochMs => lab.world.timeline.now();
      const answer = await runIn({ environment, now }, 'image', '--config', file, '--out', out, ...args);
      const shown = (text: string): string =>
        text.replaceAll(`${folder}/`, '').replaceAll(lab.coderdUrl, 'CODERD');
      return { code: answer.code, out: shown(answer.out), err: shown(answer.err) };
    };
    return { lab, out, runAs, run: (...args) => runAs({}, ...args) };
  };
  return { folder: () => folder, start };
}
