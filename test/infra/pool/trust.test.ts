/** The tasks trust the user's own certificate authority, which signed coderd's certificate. */
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { GUARD_SHELLS, type Shell } from '../../guard/running-guard.ts';
import { ownFolder } from '../../support/own-folder.ts';
import { pem } from '../support/certificate.ts';
import { cpu, deployment, type PoolSettings, synthesize } from '../support/synthesized.ts';
import { type Container, containerOf } from '../support/template-parts.ts';

const folder = ownFolder();
const caBundle = join(folder, 'corp.pem');
writeFileSync(caBundle, pem);

const withTrust = (...pools: PoolSettings[]) => {
  const settings = deployment(pools);
  return { ...settings, coder: { ...settings.coder, caBundle } };
};
const trusted = containerOf(synthesize(withTrust(cpu)), 'cpu');
const plain = containerOf(synthesize(deployment([cpu])), 'cpu');

/** The output of a command that runs in place of the guard. */
function seenBy(container: Container, environment: Readonly<Record<string, string>>, shell: Shell) {
  const [, ...trust] = container.EntryPoint.slice(0, -4);
  const command = [
    'sh',
    '-c',
    'echo "$SSL_CERT_DIR"; cat "$(echo "$SSL_CERT_DIR" | cut -d: -f1)"/*; env',
    'command',
  ];
  const { stdout, status } = spawnSync('env', [...shell.command, ...trust, ...command], {
    encoding: 'utf8',
    env: {
      PATH: `${shell.path}:${process.env.PATH}`,
      ...Object.fromEntries(container.Environment.map(({ Name, Value }) => [Name, Value])),
      ...environment,
    },
  });
  return { stdout, status };
}

it('starts the guard unchanged after it wrote the certificates to a folder that Go reads', () => {
  expect(trusted.EntryPoint.slice(-4)).toEqual(plain.EntryPoint);
  expect(trusted.Command).toEqual(plain.Command);
});

it.each<{ environment: Readonly<Record<string, string>>; others: string; because: string }>([
  {
    environment: {},
    others: '/etc/ssl/certs:/etc/pki/tls/certs',
    because: 'Go reads these folders by default',
  },
  { environment: { SSL_CERT_DIR: '/own' }, others: '/own', because: 'the user set SSL_CERT_DIR' },
])('adds the certificates to $others: $because', ({ environment, others }) => {
  for (const shell of GUARD_SHELLS.filter(({ isMissing }) => !isMissing)) {
    const { stdout, status } = seenBy(trusted, environment, shell);
    expect(status).toBe(0);
    expect(stdout.split('\n')[0]).toMatch(new RegExp(`^/[^:]+:${others}$`));
    expect(stdout).toContain(pem);
    expect(stdout).not.toContain('AUTOSCALER_CA_BUNDLE');
  }
});
