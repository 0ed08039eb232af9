/** The server of guarded tasks where no test of the real guard sees it (guarded.full.test.ts). */
import { expect, it } from 'vitest';
import { TaskServer } from '../../../world/guarded/task-server.ts';
import { Fixture, MINUTE } from '../ecs/ecs-fixture.ts';
import { until } from './guarded-fixture.ts';

it('loses the daemon when the process that reports for it is gone', async () => {
  const fixture = new Fixture();
  fixture.pass(2 * MINUTE);
  const { host } = fixture.container(fixture.firstTask());
  const calls: string[] = [];
  const server = new TaskServer({
    find: () => ({
      host,
      runDaemon: ({ name }) => void calls.push(`run ${name}`),
      terminateDaemon: () => void calls.push('terminate'),
      loseDaemon: () => void calls.push('lose'),
    }),
  });
  const url = await server.open();
  const aborting = new AbortController();
  const life = fetch(`${url}/daemons/gpu-1`, { method: 'POST', signal: aborting.signal }).catch(() => 'gone');
  await until(() => calls.length === 1);
  aborting.abort();
  expect(await life).toBe('gone');
  await until(() => calls.length === 2);
  server.close();
  expect(calls).toEqual(['run gpu-1', 'lose']);
});
