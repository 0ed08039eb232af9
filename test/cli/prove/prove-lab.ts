/** A world for `autoscaler prove`: while the command waits, its time passes and the function looks. */
import { join } from 'node:path';
import { vi } from 'vitest';
import { type EpochMs, plusMs } from '../../../lambda/decision/model/brands.ts';
import { lookAndAct } from '../../../lambda/look/look.ts';
import { lookEvent } from '../../../lambda/look/look-event.ts';
import { type CommandLab, commandLabs, putLine } from '../../support/command-lab.ts';
import type { LabOptions, LabPool } from '../../support/lab.ts';

export const PROVING: LabPool = {
  name: 'proving',
  organization: 'default',
  tags: { proving: 'yes' },
  desiredCount: 0,
};
export const CPU: LabPool = { ...PROVING, name: 'cpu', tags: {} };

const LOOK_MS = 20_000;

export type ProveLab = CommandLab & {
  /** Runs the command with --yes. `onWait`: called before each wait, with how many came before. */
  readonly prove: (onWait?: (waits: number) => void) => ReturnType<CommandLab['call']>;
  readonly interrupt: () => void;
  /** The person's token of coderd. */
  readonly token: string;
  /** Lets time pass, with a look each 20 s. */
  readonly live: (ms: number) => Promise<void>;
  /** All operations that were called, such as `ecs UpdateService`. */
  readonly requests: readonly string[];
  /** Whether each look is an invocation of its own, as with messages. @default true */
  hasMessages: boolean;
};

export function proveLabs() {
  const { folder, start } = commandLabs();
  const out = join(folder, 'proved.json');
  const open = async (options: Partial<LabOptions> = {}): Promise<ProveLab> => {
    const requests: string[] = [];
    const onRequest: LabOptions['onRequest'] = ({ service, operation }) =>
      requests.push(`${service} ${operation}`);
    // in process: requests are those of the command
    const lab = await start({ pools: [PROVING, CPU], overHttp: false, onRequest, ...options });
    vi.stubEnv('AWS_ENDPOINT_URL_CLOUDFORMATION', lab.awsUrl);
    const { timeline, coderd, ecs } = lab.world;
    ecs.tellsScaleIn = true;
    const ports = lab.ports();
    let nextLook: EpochMs = timeline.now();
    let interrupt = (): void => {};
    const look = async (): Promise<void> => {
      const result = await lookAndAct(ports, lab.config);
      const event = lookEvent({ result, calls: {}, durationMs: 400 });
      const id = proveLab.hasMessages ? timeline.now() : Math.floor(timeline.now() / 60_000);
      putLine(lab, { message: 'look', ...event, lookAgainAfterMs: LOOK_MS, function_request_id: `${id}` });
    };
    const live = async (ms: number): Promise<void> => {
      const end = plusMs(timeline.now(), ms);
      for (; nextLook <= end; nextLook = plusMs(nextLook, LOOK_MS)) {
        timeline.advanceTo(nextLook);
        await look();
      }
      timeline.advanceTo(end);
    };
    const token = coderd.addToken({ canRead: 'all' });
    const environment = { AUTOSCALER_CLUSTER: lab.world.ecs.clusterName, CODER_SESSION_TOKEN: token };
    const prove: ProveLab['prove'] = (onWait = () => {}) => {
      let waits = 0;
      const sleep = async (ms: number): Promise<void> => {
        onWait(waits++);
        await live(ms);
      };
      const onInterrupt = (run: () => void) => {
        interrupt = run;
        return () => {};
      };
      return lab.callIn({ environment, sleep, onInterrupt }, 'prove', 'proving', '--yes', '--out', out);
    };
    const proveLab: ProveLab = {
      ...{ ...lab, prove, live, requests, token, hasMessages: true },
      interrupt: () => interrupt(),
    };
    await live(60_000);
    return proveLab;
  };
  return { open, out };
}
