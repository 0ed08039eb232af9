/** Reads the workflows and issue forms as GitHub would: they cannot run here. */
import { accessSync, constants, readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { run } from '../support/cli-run.ts';
import { readYaml, Workflow } from './workflow.ts';

const filesIn = (folder: string): readonly string[] => readdirSync(folder).map((name) => `${folder}/${name}`);

describe.each(filesIn('.github/workflows'))('%s', (file) => {
  const { permissions, jobs } = Workflow.parse(readYaml(file));
  const steps = Object.values(jobs).flatMap((job) => job.steps);

  it('runs scripts that exist and may be executed', () => {
    const scripts = steps.flatMap(({ run }) => run?.match(/\.ci\/[\w-]+/g) ?? []);
    for (const script of scripts) accessSync(script, constants.X_OK);
    const { scripts: known } = JSON.parse(readFileSync('package.json', 'utf8'));
    const named = steps.flatMap(({ run }) =>
      [...(run ?? '').matchAll(/npm run (\S+)/g)].map(([, name]) => name),
    );
    expect(named.filter((name) => !(String(name) in known))).toEqual([]);
  });

  it('puts no text that others choose into a command', () => {
    expect(steps.filter(({ run }) => run?.includes('${{'))).toEqual([]);
  });

  it('may only read, except for the job that publishes', () => {
    expect(permissions).toEqual({ contents: 'read' });
    for (const job of Object.values(jobs)) {
      const publishes = job.steps.some(({ run }) => run?.includes('npm publish'));
      expect(job.permissions).toEqual(publishes ? { contents: 'read', 'id-token': 'write' } : undefined);
    }
  });

  it('pins each action by a hash', () => {
    expect(steps.filter(({ uses }) => uses !== undefined && !/@[0-9a-f]{40}$/.test(uses))).toEqual([]);
  });

  it('runs no install script of a dependency in a job that may get a token', () => {
    const trusted = Object.values(jobs).filter(({ permissions: of }) => of?.['id-token'] === 'write');
    const commands = trusted.flatMap((job) => job.steps.map(({ run }) => run ?? ''));
    expect(commands.filter((run) => /npm (ci|install)\b(?!.*--ignore-scripts)/.test(run))).toEqual([]);
  });

  it('needs jobs that exist', () => {
    const needed = Object.values(jobs).flatMap(({ needs }) => needs ?? []);
    expect(needed.filter((name) => !(name in jobs))).toEqual([]);
  });
});

const Form = z.strictObject({
  name: z.string(),
  description: z.string(),
  labels: z.array(z.string()),
  body: z.array(
    z.discriminatedUnion('type', [
      z.strictObject({ type: z.literal('markdown'), attributes: z.strictObject({ value: z.string() }) }),
      z.strictObject({
        type: z.enum(['textarea', 'input']),
        id: z.string().regex(/^[\w-]+$/),
        attributes: z.strictObject({
          label: z.string(),
          description: z.string().optional(),
          render: z.string().optional(),
        }),
        validations: z.strictObject({ required: z.boolean() }).optional(),
      }),
    ]),
  ),
});

const FORMS = filesIn('.github/ISSUE_TEMPLATE').filter((file) => !file.endsWith('/config.yml'));

describe.each(FORMS)('%s', (file) => {
  const { body } = Form.parse(readYaml(file));
  const fields = body.filter((item) => item.type !== 'markdown');

  it('has a different id and label for each field', () => {
    for (const key of [fields.map(({ id }) => id), fields.map(({ attributes }) => attributes.label)])
      expect(new Set(key).size).toBe(key.length);
  });

  it('asks for a snapshot, or for the file of prove', () => {
    expect(fields.filter(({ id }) => id === 'snapshot' || id === 'proved')).toHaveLength(1);
  });

  it('names commands and options that exist', async () => {
    const commands = [...readFileSync(file, 'utf8').matchAll(/`npx autoscaler ([^`]+)`/g)];
    expect(commands.length).toBeGreaterThan(1);
    for (const [, command = ''] of commands) {
      const [first = '', ...others] = command.split(' ');
      const help = first === '--version' ? await run('--help') : await run(first, '--help');
      expect(help.code).toBe(0);
      for (const option of [first, ...others].filter((word) => word.startsWith('--')))
        expect(help.out).toContain(option);
    }
  });
});

it('updates packages, and actions before GitHub removes their Node', () => {
  const { updates } = z
    .object({ updates: z.array(z.object({ 'package-ecosystem': z.string(), directory: z.string() })) })
    .parse(readYaml('.github/dependabot.yml'));
  expect(updates).toEqual(
    ['github-actions', 'npm'].map((system) => ({ 'package-ecosystem': system, directory: '/' })),
  );
});
