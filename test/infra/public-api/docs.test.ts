/** Checks that docs/construct.md and the doc comments describe every public method and property. */
import { readFileSync } from 'node:fs';
import { ProvisionerAutoscaler } from 'coder-provisioner-autoscaler';
import { describe, expect, it } from 'vitest';
import { deploy } from '../support/public-api.ts';
import { cpu, deployment } from '../support/synthesized.ts';

const api = readFileSync('docs/construct-api.md', 'utf8');

describe('docs/construct.md and docs/construct-api.md', () => {
  const page = readFileSync('docs/construct.md', 'utf8');
  const methodsOf = (prototype: object): string[] =>
    Object.getOwnPropertyNames(prototype).filter((name) => name !== 'constructor');
  const { autoscaler } = deploy(deployment([cpu]));
  const properties = Object.keys(autoscaler).filter((name) => name !== 'node');

  it.each([
    ...methodsOf(ProvisionerAutoscaler.prototype),
    ...methodsOf(Object.getPrototypeOf(autoscaler.pool('cpu'))),
    ...properties,
    ...Object.keys(autoscaler.pool('cpu')).filter((name) => name !== 'node'),
  ])('describes %s', (name) => {
    expect(page).toMatch(new RegExp(`\`(?:[a-z]+\\.)?${name}[\`(]`));
    // CDK's IGrantable has it
    if (name !== 'grantPrincipal')
      expect(api).toMatch(new RegExp(`^(?:### ${name}|\\| \`${name}\` \\|.*)$`, 'm'));
  });
});

it('says in docs/construct-api.md what each exported name and each of its members means', () => {
  const sections = api.split('\n## ').slice(1);
  expect(sections.length).toBeGreaterThan(10);
  const isSaid = (section: string): boolean =>
    /^\w+\n\n[A-Z]/.test(section) && !/^\| `\w+` \| `[^`]*` \| {2}\|/m.test(section);
  expect(sections.filter((section) => !isSaid(section))).toEqual([]);
});

/**
 * The files whose members infra/index.ts exports. The schema describes `Settings`
 * (docs/settings.md).
 */
const PUBLIC = ['existing-resources.ts', 'provisioner-autoscaler.ts', 'pool/provisioner-pool.ts'];

/** Classes and interfaces that a file exports, each with the line above it. */
const EXPORTED = /^.*\nexport (?:abstract )?(?:class|interface) [\s\S]*?^}/gm;
/** The declaration of a property or method, with the line above it. */
const MEMBER = /^(.*)\n {2}(?!constructor|readonly #)(?:readonly |get )?(\w+)\??(?:: |\()/gm;

describe.each(PUBLIC)('infra/constructs/%s', (file) => {
  const text = readFileSync(`infra/constructs/${file}`, 'utf8');
  const exported = [...text.matchAll(EXPORTED)].map(([block]) => block);
  const members = exported.flatMap((block) =>
    [...block.matchAll(MEMBER)].map(([, above = '', name]) => ({ name, above: above.trim() })),
  );

  it('has a doc comment above each exported type, property and method', () => {
    expect(exported.filter((block) => !/^ ?\*\/|^\/\*\*.*\*\/$/m.test(block.split('\n')[0] ?? ''))).toEqual(
      [],
    );
    expect(members.length).toBeGreaterThan(7);
    expect(members.filter(({ above }) => !above.endsWith('*/'))).toEqual([]);
  });
});
