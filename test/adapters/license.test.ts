/** The license, against the world's coderd and against servers that answer otherwise. */

import { describe, expect, it } from 'vitest';
import { License } from '../../lambda/adapters/coderd/hourly.ts';
import { Secret } from '../../lambda/adapters/shared/secret.ts';
import { decide } from '../../lambda/decision/decide.ts';
import { plusMs } from '../../lambda/decision/model/brands.ts';
import { HOUR_MS } from '../../lambda/decision/model/units.ts';
import { observe } from '../../lambda/look/observe.ts';
import { type Lab, START, startLab } from '../support/lab.ts';
import { coderdClient } from '../support/servers.ts';

async function start(): Promise<{ lab: Lab; license: License; asked: () => number }> {
  const asked: string[] = [];
  const lab = await startLab({
    pools: [{ name: 'cpu', organization: 'default', tags: {} }],
    onRequest: ({ operation }) => asked.push(operation),
  });
  const { secrets, tokenSecretName } = lab.world;
  const token = { read: async () => new Secret(secrets.find(tokenSecretName)?.value ?? '') };
  const http = coderdClient(lab.coderdUrl, { token });
  const count = (): number => asked.filter((operation) => operation.includes('entitlements')).length;
  return { lab, license: new License(http), asked: count };
}

describe('the license', () => {
  it('is read once an hour', async () => {
    const { lab, license, asked } = await start();
    expect(await license.at(START)).toBe('entitled');
    lab.world.coderd.licence = 'not_entitled';
    expect(await license.at(plusMs(START, HOUR_MS - 1))).toBe('entitled');
    expect(asked()).toBe(1);
    expect(await license.at(plusMs(START, HOUR_MS))).toBe('not_entitled');
  });

  it('is unknown if coderd has no such route or does not answer', async () => {
    const http = coderdClient('http://127.0.0.1:9', { wholeMs: 200 });
    expect(await new License(http).at(START)).toBeUndefined();
  });

  it('is a finding of the look if it is missing or expired', async () => {
    const { lab } = await start();
    const findings = async () =>
      decide(await observe(lab.ports(), lab.config), lab.config).findings.map(({ code }) => code);
    expect(await findings()).toEqual([]);
    lab.world.coderd.licence = 'grace_period';
    lab.pass(3600);
    expect(await findings()).toContain('license-in-grace');
  });
});
