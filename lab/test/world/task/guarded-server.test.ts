import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { TaskServer } from '../../../world/guarded/task-server.ts';
import { Fixture, MINUTE } from '../ecs/ecs-fixture.ts';
import { until } from './guarded-fixture.ts';

describe('TaskServer', () => {
  const calls: string[] = [];
  let exit: (code: number) => void = () => {};
  let server: TaskServer;
  let url: string;
  let id: string;

  beforeEach(async () => {
    calls.length = 0;
    const fixture = new Fixture();
    fixture.pass(2 * MINUTE);
    id = fixture.firstTask().identity.id;
    const host = fixture.containers.get(id)?.host;
    server = new TaskServer({
      find: (taskId) =>
        host === undefined || taskId !== id
          ? undefined
          : {
              host,
              runDaemon: ({ name, credential: { key } }, onExit) => {
                calls.push(`run ${name} ${key}`);
                exit = onExit;
              },
              terminateDaemon: () => void calls.push('terminate'),
              loseDaemon: () => void calls.push('lose'),
              stats: () => undefined,
            },
    });
    url = await server.open();
  });
  afterEach(() => server.close());

  const live = (signal?: AbortSignal): Promise<Response> =>
    fetch(`${url}/daemons/gpu-eu-${id}`, {
      method: 'POST',
      headers: { 'Coder-Provisioner-Daemon-Key': 'k' },
      ...(signal && { signal }),
    });

  it('runs a daemon as long as its request, and answers with the exit code', async () => {
    const life = live();
    await until(() => calls.length === 1);
    expect(calls).toEqual([`run gpu-eu-${id} k`]);
    exit(3);
    expect(await (await life).text()).toBe('3\n');
    expect(calls).toHaveLength(1);
  });

  it('terminates the daemon at DELETE while its request goes on', async () => {
    const life = live();
    await until(() => calls.length === 1);
    const response = await fetch(`${url}/daemons/gpu-eu-${id}`, { method: 'DELETE' });
    expect(response.status).toBe(204);
    expect(calls.slice(1)).toEqual(['terminate']);
    exit(0);
    expect(await (await life).text()).toBe('0\n');
  });

  it('loses the daemon when its request is aborted', async () => {
    const aborting = new AbortController();
    const life = live(aborting.signal).catch(() => 'broken off');
    await until(() => calls.length === 1);
    aborting.abort();
    expect(await life).toBe('broken off');
    await until(() => calls.includes('lose'));
  });

  it.each(['/daemons/gpu-0123', '/api/TASK/task-protection/v2/state', '/v4/TASK', '/'])(
    'answers 404 to %s',
    async (path) => {
      const { status } = await fetch(`${url}${path.replace('TASK', id)}`);
      expect(status).toBe(404);
    },
  );
});
