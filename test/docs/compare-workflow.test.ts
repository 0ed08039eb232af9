/** Reads examples/compare/compare.yml as GitHub would, and runs its scripts with stubs of npx and gh. */
import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { run } from '../support/cli-run.ts';
import { ownFolder } from '../support/own-folder.ts';
import { readYaml, Workflow } from './workflow.ts';

const FILE = 'examples/compare/compare.yml';
const text = readFileSync(FILE, 'utf8');
const { on, permissions, jobs } = Workflow.parse(readYaml(FILE));
const steps = Object.values(jobs).flatMap((job) => job.steps);
const scriptOf = (job: string): string => jobs[job]?.steps.at(-1)?.run ?? '';

describe('the workflow of examples/compare', () => {
  it('runs code of the pull request in a job that may only read, without the rights of the base branch', () => {
    expect(Object.keys(on)).toEqual(['pull_request']);
    expect(permissions).toEqual({ contents: 'read' });
    expect(jobs.compare?.permissions).toBeUndefined();
    for (const { uses, with: given } of jobs.compare?.steps ?? [])
      if (uses?.startsWith('actions/checkout@'))
        expect(given).toMatchObject({ 'persist-credentials': false });
  });

  it('comments in a job that has no other right and no code of the pull request, never for a fork', () => {
    const { permissions: own, steps: ownSteps = [], if: condition } = jobs.comment ?? {};
    expect(own).toEqual({ 'pull-requests': 'write' });
    expect(ownSteps.flatMap(({ uses }) => uses ?? [])).toEqual([]);
    expect(condition).toContain('github.event.pull_request.head.repo.full_name == github.repository');
  });

  it('names each action by the hash of a release, and puts no text that others choose into a command', () => {
    for (const [, action] of text.matchAll(/uses: (.*)/g))
      expect(action).toMatch(/^actions\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
    expect(steps.filter(({ run }) => run?.includes('${{'))).toEqual([]);
  });

  it('uses a command and options that exist', async () => {
    const { out } = await run('backtest', '--help');
    const options = scriptOf('compare').match(/(?<= )--(?!no-install)[a-z-]+/g) ?? [];
    expect(options).toContain('--before');
    for (const option of options) expect(out).toContain(`${option} `);
  });
});

const folder = ownFolder();
const path = (...names: readonly string[]): string => join(folder, ...names);
const read = (name: string): string => (existsSync(path(name)) ? readFileSync(path(name), 'utf8') : '');

/** Stubs: npx writes the Markdown and exits with 3, gh writes its arguments. */
function stub(name: string, script: string): void {
  mkdirSync(path('bin'), { recursive: true });
  writeFileSync(path('bin', name), `#!/bin/sh\n${script}\n`);
  chmodSync(path('bin', name), 0o755);
}

/** Runs a script as a runner does, and returns its exit code. */
function runScript(script: string, environment: Readonly<Record<string, string>>): number | null {
  const PATH = `${path('bin')}:${process.env.PATH}`;
  const { status } = spawnSync('bash', ['-e', '-c', script], {
    cwd: path('head'),
    env: { PATH, ...environment },
  });
  return status;
}

describe('its first script', () => {
  const files = {
    GITHUB_STEP_SUMMARY: path('summary'),
    GITHUB_OUTPUT: path('output'),
    RUNNER_TEMP: path('temp'),
  };
  const start = (code: number): number | null => {
    for (const name of ['summary', 'output', 'head', 'base', 'temp'])
      rmSync(path(name), { recursive: true, force: true });
    for (const name of ['head', 'base', 'temp']) mkdirSync(path(name));
    stub(
      'npx',
      `[ ${code} = 1 ] || printf '**Limit crossed.**\\n\\n| a |\\n' > ../temp/compare.md; exit ${code}`,
    );
    writeFileSync(path('base', 'autoscaler.yaml'), '');
    return runScript(scriptOf('compare'), files);
  };

  it.each([0, 3])('writes summary and output, and exits with %i like the command', (code) => {
    expect(start(code)).toBe(code);
    expect(read('summary')).toBe('**Limit crossed.**\n\n| a |\n');
    expect(read('output')).toMatch(
      /^markdown<<(end-[0-9a-f-]{36})\n\*\*Limit crossed\.\*\*\n\n\| a \|\n\1\n$/,
    );
  });

  it('fails without output if the command cannot compare', () => {
    expect(start(1)).toBe(1);
    expect(read('summary') + read('output')).toBe('');
  });

  it('succeeds if the base branch has no configuration', () => {
    start(0);
    rmSync(path('base', 'autoscaler.yaml'));
    rmSync(path('summary'));
    expect(runScript(scriptOf('compare'), files)).toBe(0);
    expect(read('summary')).toContain('nothing to compare');
  });
});

describe('its second script', () => {
  const environment = {
    GITHUB_REPOSITORY: 'me/infra',
    NUMBER: '7',
    MARKDOWN: '**Within "the" $limits.**\n\n`x`',
  };
  const comment = (existing: string): string => {
    mkdirSync(path('head'), { recursive: true });
    rmSync(path('calls'), { force: true });
    stub(
      'gh',
      `printf '%s\\n' "$@" >> ${path('calls')}; case "$*" in *--paginate*) printf '${existing}';; esac`,
    );
    expect(runScript(scriptOf('comment'), environment)).toBe(0);
    return read('calls');
  };
  const body = `body=<!-- autoscaler compare -->\n${environment.MARKDOWN}`;

  it('writes a comment if there is none', () => {
    expect(comment('')).toContain(
      `--method\nPOST\nrepos/me/infra/issues/7/comments\n--raw-field\n${body}\n--silent\n`,
    );
  });

  it('updates its own comment', () => {
    const calls = comment('4711\\n4712\\n');
    expect(calls).toContain(`--method\nPATCH\nrepos/me/infra/issues/comments/4711\n--raw-field\n${body}\n`);
    expect(calls).not.toContain('POST');
    expect(calls).toContain('select(.user.login == "github-actions[bot]")');
  });
});
