/** The page of `autoscaler watch`: what it serves, to whom, and when it looks. */
import { once } from 'node:events';
import { createServer, get, type IncomingMessage, type RequestOptions } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { watch } from '../../../cli/watch/command.ts';
import type { WatchFrame } from '../../../cli/watch/frame.ts';
import { serveWatch } from '../../../cli/watch/server.ts';
import { WatchedLog } from '../../../cli/watch/watched-log.ts';
import { sum } from '../../../lambda/decision/model/collections.ts';
import { observe } from '../../../lambda/look/observe.ts';
import { WaitRecord } from '../../../lambda/look/waits/wait-record.ts';
import { type CommandLab, commandLabs, logLooks, withLogsAnswer } from '../../support/command-lab.ts';
import type { LabPool } from '../../support/lab.ts';

const { file, start } = commandLabs();

const CPU: LabPool = { name: 'cpu', organization: 'default', tags: {}, desiredCount: 0, min: 1, max: 5 };
const GPU: LabPool = { ...CPU, name: 'gpu', tags: { cluster: 'gpu' }, min: 0, warm: 0 };

async function request(url: string, options: RequestOptions = {}): Promise<IncomingMessage> {
  const [response] = await once(get(url, options), 'response');
  return response as IncomingMessage;
}

async function textOf(response: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of response) text += String(chunk);
  return text;
}

/** The first events of a page, each with its name and data. The page closes then. */
async function eventsOf(url: string, count: number): Promise<readonly (readonly [string, unknown])[]> {
  const response = await request(`${url}events`);
  let text = '';
  for await (const chunk of response) {
    text += String(chunk);
    if (text.split('\n\n').length > count) break;
  }
  const closed = once(response, 'close');
  response.destroy();
  await closed;
  return text
    .split('\n\n')
    .slice(0, count)
    .map((event) => {
      const [name = '', data = ''] = event.split('\n');
      return [name.slice('event: '.length), JSON.parse(data.slice('data: '.length))];
    });
}

/** The first frame of this lab's page. */
async function frameOf({ world }: CommandLab): Promise<WatchFrame> {
  const silent = { out: () => {}, err: () => {}, now: () => world.timeline.now(), pollMs: 0 };
  const environment = { AUTOSCALER_CLUSTER: world.ecs.clusterName };
  const page = await watch({ config: file, port: 0 }, { ...silent, environment });
  const [event] = await eventsOf(page.url, 1);
  await page.close();
  expect(event?.[0]).toBe('frame');
  return event?.[1] as WatchFrame;
}

describe('a frame', () => {
  it('has each task by state, each job that waits, and the changes of the log', async () => {
    const lab = await start({ pools: [CPU, GPU] });
    await logLooks(lab, 240);
    const submit = (tags: Readonly<Record<string, string>>) =>
      lab.world.coderd.submitJob({
        ...{ organization: 'default', tags, durationMs: 600_000, type: 'template_version_import' },
      });
    submit({});
    submit({});
    submit({ cluster: 'tpu' });
    lab.pass(2);
    const { headline, lanes, waiting, changes, dollars, findings, unschedulable } = await frameOf(lab);
    expect(headline).toMatch(/^2 jobs wait, .* 1 of them unschedulable; no findings$/);
    expect(lanes.map(({ name, tasks }) => [name, tasks.map(({ state }) => state)])).toEqual([
      ['cpu', ['building']],
      ['gpu', []],
    ]);
    expect(waiting.map(({ tags, jobs, by }) => [tags, jobs, by])).toEqual([
      ['(untagged)', 1, 'by a new task in "cpu"'],
      ['cluster=tpu', 1, 'unschedulable, see above'],
    ]);
    expect(findings).toEqual([]);
    expect(unschedulable).toMatchObject([{ brief: expect.stringContaining('cluster=tpu') }]);
    expect(changes.map(({ at, brief }) => `${at.slice(11, 16)} ${brief}`)).toEqual([
      '09:00 cpu 0 -> 1: min keeps 1 task',
    ]);
    // one task of 1 vCPU and 2 GiB on ARM, which is there from the second look on
    expect(dollars.anHour).toBeCloseTo(0.0395, 4);
    expect(dollars.past?.hours).toBeCloseTo(232 / 3600, 6);
    expect(dollars.past?.fixedFleet).toBeCloseTo((0.0395 * 232) / 3600, 5);
    expect(dollars.past?.dollars).toBeCloseTo((0.0395 * 222) / 3600, 5);
  });

  it('tells a mismatch of two lists once looks have seen it for almost a minute', async () => {
    const { world, pass } = await start({ pools: [CPU] });
    const silent = { out: () => {}, err: () => {}, now: () => world.timeline.now(), pollMs: 0 };
    const environment = { AUTOSCALER_CLUSTER: world.ecs.clusterName };
    const page = await watch({ config: file, port: 0 }, { ...silent, environment }, 0);
    onTestFinished(() => page.close());
    world.coderd.startBuiltInDaemon(`cpu-${'0'.repeat(32)}`, {});
    const findings = async (): Promise<unknown> => {
      // the first frame is the one that the server has kept, and the second may have been read meanwhile
      const events = await eventsOf(page.url, 3);
      const [, , [, last]] = events as readonly [unknown, unknown, readonly [string, WatchFrame]];
      return last.findings;
    };
    expect(await findings()).toEqual([]);
    pass(60);
    expect(await findings()).toMatchObject([{ whole: expect.stringContaining('1 daemon has no ECS task') }]);
  });

  it('names what coderd and schedules do next', async () => {
    const lab = await start(
      { pools: [CPU] },
      {
        pools: [
          {
            ...{ name: 'cpu', organization: 'default', tags: {}, key: { secret: 'coder/keys/cpu' }, max: 5 },
            schedules: [{ from: '12:00', to: '13:00', timezone: 'UTC', min: 3, warm: 1 }],
          },
        ],
      },
    );
    const { next } = await frameOf(lab);
    expect(next).toEqual([
      {
        at: '2026-03-02T12:00:00.000Z',
        text: 'pool "cpu": a schedule keeps at least 3 tasks and 1 free daemon',
      },
    ]);
  });
});

describe('the strip of the last day', () => {
  /** The frame in which the query of the day has ended. */
  async function dayOf({ world }: CommandLab, queryMs?: number): Promise<WatchFrame['strip']> {
    const environment = { AUTOSCALER_CLUSTER: world.ecs.clusterName };
    const quiet = { out: () => {}, err: () => {}, now: () => world.timeline.now(), pollMs: 0, queryMs };
    const page = await watch({ config: file, port: 0 }, { ...quiet, environment }, 0);
    onTestFinished(() => page.close());
    for (;;) {
      // the first frame may be one that the server has kept
      const [, [, { strip }]] = (await eventsOf(page.url, 2)) as [unknown, [string, WatchFrame]];
      if (strip.note !== READING) return strip;
    }
  }
  const READING = 'What was before is being read from the log.';
  const busyIn = ({ values }: WatchFrame['strip']) => values.busy.filter((value) => value !== null).length;

  /** Ten minutes of looks with a build, three hours without a look, and a minute of looks. */
  async function withGap(): Promise<CommandLab> {
    const lab = await start({ pools: [CPU, GPU] });
    const record = new WaitRecord();
    lab.world.coderd.submitJob({ organization: 'default', tags: {}, durationMs: 60_000 });
    await logLooks(lab, 600, record);
    lab.pass(3 * 3600);
    await logLooks(lab, 60, record);
    return lab;
  }

  it('has by one query what was before the last hour, with its gap, its waits and what it cost', async () => {
    const lab = await withGap();
    const strip = await dayOf(lab);
    expect(strip).toMatchObject({ widthSeconds: 60, title: 'the last 3 h' });
    expect(strip.note).toBe('One query read less than 1 MB of the log, for less than $0.0001.');
    expect([strip.bins, strip.gaps]).toEqual([191, [[11, 189]]]);
    const { busy, p95, desired, waiting } = strip.values;
    expect(Math.max(...busy.map(Number))).toBeGreaterThan(0.5);
    expect(desired[11]).toBe(null);
    expect(waiting[0]).toBe(1);
    expect(strip.slowest.filter((pool) => pool !== null)).toEqual(['cpu']);
    expect(Math.max(...p95.map(Number))).toBeGreaterThan(10);
    expect(lab.world.logs.query('query-1')).toBeDefined();
    expect(lab.world.logs.query('query-2')).toBeUndefined();
  });

  it('says that it is being read, or why not, and shows what is known without it', async () => {
    const lab = await withGap();
    lab.world.logs.areQueriesFast = false;
    const { strip } = await frameOf(lab);
    expect([strip.note, busyIn(strip)]).toEqual([READING, 5]);
    expect((await dayOf(lab, 20)).note).toBe(
      'What was before is unknown: the query of the log has not ended in time',
    );
  });

  it('names the permission that is missing', async () => {
    const lab = await withGap();
    await withLogsAnswer(lab, 'StartQuery', 400, {
      __type: 'AccessDeniedException',
      message: 'User: ada is not authorized to perform: logs:StartQuery',
    });
    const strip = await dayOf(lab);
    expect(strip.note).toMatch(
      /^What was before is unknown: querying the log group .* ask for logs:StartQuery on it, and for logs:GetQueryResults$/,
    );
    expect(busyIn(strip)).toBe(5);
  });

  it('says that the log has no look, or cannot be read', async () => {
    const lab = await start({ pools: [CPU] });
    lab.world.logs.createGroup(lab.world.logGroupName);
    const empty = await dayOf(lab);
    expect([empty.note, empty.gaps]).toEqual(['The log has no look of the last day.', [[0, 59]]]);
    vi.stubEnv('AWS_ACCESS_KEY_ID', 'somebody who may only read ECS');
    expect((await dayOf(lab)).note).toBe('What was before is unknown: the log cannot be read');
  });

  it('says no more that the log has no look once looks come', async () => {
    const lab = await start({ pools: [CPU] });
    const { world } = lab;
    world.logs.createGroup(world.logGroupName);
    const environment = { AUTOSCALER_CLUSTER: world.ecs.clusterName };
    const quiet = { out: () => {}, err: () => {}, now: () => world.timeline.now(), pollMs: 0 };
    const page = await watch({ config: file, port: 0 }, { ...quiet, environment }, 0);
    onTestFinished(() => page.close());
    const noteOf = async () => ((await eventsOf(page.url, 3)).at(-1) as [string, WatchFrame])[1].strip.note;
    await expect.poll(noteOf, { timeout: 10_000 }).toBe('The log has no look of the last day.');
    await logLooks(lab, 30);
    await expect.poll(noteOf, { timeout: 10_000 }).toBe(null);
  });

  it('goes on with the looks and waits of each frame, each counted once', async () => {
    const lab = await start({ pools: [CPU] });
    const { world } = lab;
    const record = new WaitRecord();
    await logLooks(lab, 60, record);
    const log = new WatchedLog({ pollMs: 0 });
    const read = async () =>
      log.read(await observe(lab.ports(), lab.config), lab.config, world.timeline.now());
    await read();
    world.coderd.submitJob({ organization: 'default', tags: {}, durationMs: 600_000 });
    await logLooks(lab, 60, record);
    await read();
    await log.dayIsRead();
    const { history } = await read();
    const cells = [...history.bins.values()].map((bin) => bin.cell('cpu'));
    expect(sum(cells, (cell) => cell.waitsMs.length)).toBe(1);
    // a row of the query begins with its minute, 10 s before the first look
    expect(sum(cells, (cell) => cell.coveredMs)).toBe(120_000);
  });
});

describe('the server', () => {
  const serve = async (look: () => Promise<unknown>) => {
    const server = await serveWatch({ port: 0, everyMs: 0, look: look as () => Promise<WatchFrame> });
    onTestFinished(() => server.close());
    return server;
  };

  it('allows the script and the style of its page, and connects to itself only', async () => {
    const { url } = await serve(async () => ({}));
    const response = await request(url);
    expect(response.headers['content-security-policy']).toMatch(
      /^default-src 'none'; style-src 'sha256-[^ ]+'; script-src 'sha256-[^ ]+'; connect-src 'self'; frame-ancestors 'none'$/,
    );
    const page = await textOf(response);
    expect(page).not.toMatch(/https?:|src=|@import|innerHTML|style="/);
  });

  it.each([
    {
      what: 'another host, as in DNS rebinding',
      path: '',
      options: { headers: { host: 'evil.example' } },
      status: 403,
    },
    {
      what: 'events for another host',
      path: 'events',
      options: { headers: { host: 'evil.example' } },
      status: 403,
    },
    { what: 'another method', path: '', options: { method: 'POST' }, status: 405 },
    { what: 'another path', path: '../etc/passwd', options: {}, status: 404 },
  ])('refuses $what', async ({ path, options, status }) => {
    const { url } = await serve(async () => ({}));
    const response = await request(url + path, options);
    expect([response.statusCode, (await textOf(response)).length < 60]).toEqual([status, true]);
  });

  it.each([
    { because: 'another site', headers: { 'sec-fetch-site': 'cross-site' } },
    { because: 'another port of this machine', headers: { 'sec-fetch-site': 'same-site' } },
    { because: 'another origin', headers: { origin: 'http://evil.example' } },
    { because: 'an origin without a name', headers: { origin: 'null' } },
    { because: 'the origin of another port', headers: { origin: 'http://127.0.0.1:1' } },
    { because: 'a name that now leads to this machine', headers: { host: 'evil.example' } },
    {
      because: 'such a name as host and origin',
      headers: { host: 'evil.example', origin: 'http://evil.example' },
    },
  ])('starts no look for a page of $because', async ({ headers }) => {
    let looks = 0;
    const { url } = await serve(async () => ({ look: ++looks }));
    const response = await request(`${url}events`, { headers });
    // the events of a page that is not refused never end
    expect(response.statusCode).toBe(403);
    expect(await textOf(response)).toBe('This page answers to its own address only.\n');
    for (let turn = 0; turn < 50; turn++) await setImmediate();
    expect(looks).toBe(0);
  });

  it.each([
    {
      path: '',
      headers: { 'sec-fetch-site': 'cross-site' },
      because: 'a link of another site opens the page',
    },
    { path: 'events', headers: { 'sec-fetch-site': 'same-origin' }, because: 'the page itself asks' },
    { path: 'events', headers: { 'sec-fetch-site': 'none' }, because: 'a person typed the address' },
  ])('answers /$path with $headers: $because', async ({ path, headers }) => {
    const { url } = await serve(async () => ({}));
    const response = await request(url + path, { headers: { ...headers } });
    expect(response.statusCode).toBe(200);
    response.destroy();
  });

  it('looks for all open pages together, and only while one is open', async () => {
    let looks = 0;
    const { url } = await serve(async () => ({ look: ++looks }));
    expect(await eventsOf(url, 2)).toMatchObject([
      ['frame', { look: 1 }],
      ['frame', { look: 2 }],
    ]);
    for (let turn = 0; turn < 200; turn++) await setImmediate();
    const seen = looks;
    for (let turn = 0; turn < 200; turn++) await setImmediate();
    expect(looks).toBe(seen);
    const [first] = await eventsOf(url, 1);
    expect(first).toMatchObject(['frame', { look: seen }]);
  });

  it('shows why a look failed, and goes on', async () => {
    let looks = 0;
    const { url } = await serve(async () => {
      if (++looks === 1) throw new Error('AWS does not answer');
      return { look: looks };
    });
    expect(await eventsOf(url, 2)).toMatchObject([
      ['trouble', 'AWS does not answer'],
      ['frame', { look: 2 }],
    ]);
  });

  it('tells a page that opens while looks fail how old the kept frame is, and why', async () => {
    let looks = 0;
    let now = 0;
    const look = async (): Promise<unknown> => {
      looks += 1;
      if (looks > 1) throw new Error('AWS does not answer');
      return { look: looks };
    };
    const server = await serveWatch({
      ...{ port: 0, everyMs: 0, now: () => now },
      look: look as () => Promise<WatchFrame>,
    });
    onTestFinished(() => server.close());
    expect((await eventsOf(server.url, 2))[0]).toEqual([
      'frame',
      { look: 1, seen: { agoMs: 0, staleAfterMs: 6_000 } },
    ]);
    now = 17 * 60_000;
    expect(await eventsOf(server.url, 2)).toEqual([
      ['frame', { look: 1, seen: { agoMs: 17 * 60_000, staleAfterMs: 6_000 } }],
      ['trouble', 'AWS does not answer'],
    ]);
  });

  it('names a port that is taken', async () => {
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void other.close());
    const { port } = other.address() as AddressInfo;
    const lab = await start({ pools: [CPU] });
    const { code, err } = await lab.call('watch', '--port', `${port}`);
    expect(code).toBe(1);
    expect(err).toMatch(/^serving the page on port \d+: listen EADDRINUSE.*\. Give another with --port\n$/);
  });
});
