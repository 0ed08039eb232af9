/** The deployment of `npm run try`, which the commands of a clone find by themselves, and their hints. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { runningTry } from '../../cli/shared/running-try.ts';
import { runIn } from '../support/cli-run.ts';
import { ownFolder } from '../support/own-folder.ts';

const file = join(ownFolder(), 'env');
const FOUND = { AUTOSCALER_CONFIG: 'dist/try/autoscaler.yaml', AWS_PROFILE: '' };
const NO_PROCESS = 2 ** 30;

const written = (pid: number | string): void =>
  writeFileSync(
    file,
    `# process ${pid}\nexport AUTOSCALER_CONFIG=dist/try/autoscaler.yaml\nexport AWS_PROFILE=''\n`,
  );

it.each([
  { is: 'while it runs', args: ['status'], found: FOUND },
  {
    is: 'for its own configuration',
    args: ['unpin', 'gpu', '--config', FOUND.AUTOSCALER_CONFIG],
    found: FOUND,
  },
  { is: 'for another configuration', args: ['plan', '--config', 'autoscaler.yaml'], found: {} },
  { is: 'for another configuration after a sign', args: ['plan', '--config=autoscaler.yaml'], found: {} },
  { is: 'for help', args: ['--help'], found: {} },
  {
    is: 'beside a variable of this project',
    args: ['status'],
    environment: { AUTOSCALER_CLUSTER: 'a' },
    found: {},
  },
  { is: 'beside another AWS', args: ['status'], environment: { AWS_ENDPOINT_URL: 'http://a' }, found: {} },
  {
    is: 'beside a Region and a profile',
    args: ['status'],
    environment: { AWS_REGION: 'a', AWS_PROFILE: 'b' },
    found: FOUND,
  },
  { is: 'after its process was killed', args: ['status'], pid: NO_PROCESS, found: {} },
  { is: 'without the id of its process', args: ['status'], pid: '', found: {} },
])('finds $found $is', ({ args, environment = {}, pid = process.pid, found }) => {
  written(pid);
  expect(runningTry(args, environment, file)).toEqual(found);
});

it('finds nothing where no file is', () => {
  expect(runningTry(['status'], {}, `${file}-of-another`)).toEqual({});
});

it.each(['autoscaler', 'npx autoscaler'])('prints commands to type as %s', async (command) => {
  const { err } = await runIn({ command }, 'plan', '--config', 'none.yaml');
  expect(err).toContain(`write one with ${command} setup --draft, or`);
  const { out } = await runIn({ command }, 'pause', '--help');
  expect(out).toContain(`\nExamples:\n  ${command} pause gpu --why "a new image"\n`);
  const { out: document } = await runIn({ command }, 'doctor', '--config', 'none.yaml', '--json');
  expect(document).toContain(' with autoscaler setup --draft');
});
