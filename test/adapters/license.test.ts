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
    expect(await license.at(START)).toEqual({ license: 'entitled' });
    lab.world.coderd.licence = 'not_entitled';
    expect(await license.at(plusMs(START, HOUR_MS - 1))).toEqual({ license: 'entitled' });
    expect(asked()).toBe(1);
    const unlicensedAt = plusMs(START, HOUR_MS);
    expect(await license.at(unlicensedAt)).toEqual({ license: 'not_entitled', unlicensedAt });
  });

  it('is read again once the clock has stepped back by an hour', async () => {
    const { license, asked } = await start();
    await license.at(plusMs(START, HOUR_MS));
    await license.at(plusMs(START, 1));
    expect(asked()).toBe(1);
    await license.at(START);
    expect(asked()).toBe(2);
  });

  it('is read again if it is doubted, and while it is missing', async () => {
    const { lab, license, asked } = await start();
    await license.at(START);
    lab.world.coderd.licence = 'not_entitled';
    const at = (seconds: number) => plusMs(START, seconds * 1_000);
    expect(await license.at(at(1), true)).toEqual({ license: 'not_entitled', unlicensedAt: at(1) });
    await license.at(at(2));
    lab.world.coderd.licence = 'entitled';
    expect(await license.at(at(3))).toEqual({ license: 'entitled', unlicensedAt: at(2) });
    await license.at(at(3_602));
    expect(asked()).toBe(4);
  });

  it('is unknown if coderd has no such route or does not answer', async () => {
    const http = coderdClient('http://127.0.0.1:9', { wholeMs: 200 });
    expect(await new License(http).at(START)).toEqual({});
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
