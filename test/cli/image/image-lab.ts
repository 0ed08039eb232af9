/** `autoscaler image` over HTTP, with the files in a temporary folder. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach } from 'vitest';
import { stringify } from 'yaml';
import type { EpochMs } from '../../../lambda/decision/model/brands.ts';
import { type Answer, runIn } from '../../support/cli-run.ts';
import { type Lab, type LabPool, labConfig, startLab } from '../../support/lab.ts';
import { ownFolder } from '../../support/own-folder.ts';
import { asPerson } from '../../support/own-labs.ts';

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
  asPerson();
  let folder = '';
  beforeEach(() => {
    folder = ownFolder();
  });
  const start = async ({ pools = [CPU], settings = {} }: ImageLabOptions = {}): Promise<ImageLab> => {
    const lab = await startLab({ pools });
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
