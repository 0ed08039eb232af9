/** Labs whose commands run as a person, with a configuration file and the world's clock. */
import { writeFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { vi } from 'vitest';
import { stringify } from 'yaml';
import type { CliEnvironment } from '../../cli/shared/cli-environment.ts';
import { lookAndAct } from '../../lambda/look/look.ts';
import { lookEvent } from '../../lambda/look/look-event.ts';
import { waitLine } from '../../lambda/look/waits/wait-line.ts';
import { WaitRecord } from '../../lambda/look/waits/wait-record.ts';
import { type Answer, runIn } from './cli-run.ts';
import { type Lab, type LabOptions, labConfig } from './lab.ts';
import { ownFolder } from './own-folder.ts';
import { ownLabs } from './own-labs.ts';
import { serve } from './servers.ts';

export type CommandLab = Lab & {
  /** Runs a command with the configuration file. */
  readonly call: (...args: readonly string[]) => Promise<Answer>;
  readonly callIn: (changed: Partial<CliEnvironment>, ...args: readonly string[]) => Promise<Answer>;
};

/** `start` starts a lab and writes its configuration, with these other settings, to `file`. */
export function commandLabs() {
  const folder = ownFolder();
  const file = join(folder, 'autoscaler.yaml');
  const startLab = ownLabs();
  const start = async (options: LabOptions, settings: object = {}): Promise<CommandLab> => {
    const lab = await startLab(options);
    const { timeline, ecs } = lab.world;
    writeFileSync(file, stringify({ ...labConfig(lab.coderdUrl, options.pools), ...settings }));
    const own = {
      environment: { AUTOSCALER_CLUSTER: ecs.clusterName, USER: 'ada' },
      now: () => timeline.now(),
      pollMs: 0,
    };
    const callIn: CommandLab['callIn'] = (changed, ...args) =>
      runIn({ ...own, ...changed }, ...args, '--config', file);
    return { ...lab, callIn, call: (...args) => callIn({}, ...args) };
  };
  return { folder, file, start };
}

/** Writes a line into the function's log. */
export function putLine({ world }: Lab, line: object): void {
  world.logs.put(world.logGroupName, JSON.stringify({ level: 'INFO', service: world.stackName, ...line }));
}

/** CloudWatch Logs, with another answer for one operation. */
export async function withLogsAnswer(
  { awsUrl }: Lab,
  operation: string,
  status: number,
  answer: object,
): Promise<void> {
  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await buffer(request);
    const { 'x-amz-target': target = '', authorization = '' } = request.headers;
    if (String(target).endsWith(`.${operation}`)) {
      response.writeHead(status, { 'content-type': 'application/x-amz-json-1.1' });
      response.end(JSON.stringify(answer));
      return;
    }
    const headers = { 'x-amz-target': String(target), authorization };
    const real = await fetch(awsUrl, { method: 'POST', headers, body });
    response.writeHead(real.status, { 'content-type': 'application/x-amz-json-1.1' });
    response.end(await real.text());
  };
  const url = await serve((request, response) => void handle(request, response));
  vi.stubEnv('AWS_ENDPOINT_URL_CLOUDWATCH_LOGS', url);
}

/** A look every 10 s, logged as the function logs it. */
export async function logLooks(
  lab: Lab,
  seconds: number,
  record = new WaitRecord(),
  config = lab.config,
): Promise<void> {
  for (let passed = 0; passed < seconds; passed += 10) {
    lab.pass(10);
    const result = await lookAndAct(lab.ports(), config);
    const { waits, missed } = record.after(result, 400);
    putLine(lab, { message: 'look', ...lookEvent({ result, calls: {}, durationMs: 400 }, missed) });
    for (const wait of waits) putLine(lab, { message: 'wait', ...waitLine(wait) });
  }
}
