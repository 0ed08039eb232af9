/** `autoscaler setup` over HTTP, against a coderd and an AWS account where nothing is deployed. */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, vi } from 'vitest';
import { ACCESS_KEY_OF_A_GUEST, ACCESS_KEY_OF_A_PERSON } from '../../../lab/world/aws-http.ts';
import { type Requested, serveWorld } from '../../../lab/world/serve.ts';
import { World } from '../../../lab/world/world.ts';
import { type Answer, runIn } from '../../support/cli-run.ts';
import { START } from '../../support/lab.ts';
import { ownFolder } from '../../support/own-folder.ts';

const AWS = ['ECS', 'SECRETS_MANAGER', 'SSM', 'STS', 'CLOUDFORMATION', 'SERVICE_QUOTAS', 'IAM'];
export const BOOTSTRAP = '/cdk-bootstrap/hnb659fds/version';

type Given = {
  /** Of the person at the terminal. Undefined: there is none. */
  readonly answers?: readonly string[];
  /** Of the terminal. */
  readonly columns?: number;
  /** Variables that differ. */
  readonly environment?: Readonly<Record<string, string>>;
};

export type SetupLab = {
  readonly world: World;
  readonly file: string;
  /** The command lines that ran, and the requests that changed something. */
  readonly commands: string[];
  readonly changes: string[];
  /** All requests. */
  readonly requests: string[];
  /** The session of the person in Coder. */
  session: string;
  readonly run: (given: Given, ...args: string[]) => Promise<Answer>;
  /** Runs another command. */
  readonly autoscaler: (...args: string[]) => Promise<Answer>;
  /** Lets the person's credentials of AWS be those of somebody without rights. */
  readonly becomeGuest: () => void;
  /** What a whole run leaves behind. */
  readonly made: () => object;
};

/** Starts a lab for each test. `coderVersion`: the release of coderd. @default that of the simulator */
export function setupLab(coderVersion?: string): SetupLab {
  const folder = ownFolder();
  const file = join(folder, 'autoscaler.yaml');
  let close = async (): Promise<void> => {};
  const lab = {} as { -readonly [Key in keyof SetupLab]: SetupLab[Key] };
  beforeEach(async () => {
    const world = new World({
      start: START,
      seed: 1,
      pools: [],
      organizations: ['default', 'data'],
      ...(coderVersion && { coderVersion }),
    });
    world.secrets.forget(world.tokenSecretName);
    world.coderd.addTemplate({ organization: 'default', name: 'docker' });
    world.coderd.addTemplate({ organization: 'data', name: 'spark', tags: { team: 'data' } });
    const changes: string[] = [];
    const requests: string[] = [];
    const served = await serveWorld(world, {
      onRequest: (what) => {
        requests.push(what.operation);
        changes.push(...changeIn(what));
      },
    });
    close = served.close;
    for (const service of AWS) vi.stubEnv(`AWS_ENDPOINT_URL_${service}`, served.awsUrl);
    vi.stubEnv('AWS_ACCESS_KEY_ID', ACCESS_KEY_OF_A_PERSON);
    const commands: string[] = [];
    const run = async (words: readonly string[]): Promise<number> => {
      const line = words.join(' ');
      commands.push(line);
      if (line.startsWith('npx cdk bootstrap')) world.parameters.put(BOOTSTRAP, '28');
      // as CreateCluster: Unable to assume the service linked role
      return line.startsWith('npx cdk deploy') && world.account.serviceRole !== 'there' ? 1 : 0;
    };
    const environmentNow = () => ({ CODER_URL: served.coderdUrl, CODER_SESSION_TOKEN: lab.session });
    Object.assign(lab, {
      world,
      file,
      commands,
      changes,
      requests,
      session: world.coderd.addToken({ canRead: 'all', isOwner: true }),
      run: ({ answers, columns, environment }, ...args) => {
        const left = [...(answers ?? [])];
        const ask = async (): Promise<string> => left.shift() ?? 'q';
        const person = {
          environment: { ...environmentNow(), HOME: folder, ...environment },
          run,
          ...(columns && { columns }),
          now: () => world.timeline.now(),
          ...(answers && { ask }),
        };
        return runIn(person, 'setup', '--config', file, ...args);
      },
      autoscaler: (...args) =>
        runIn({ environment: environmentNow(), now: () => world.timeline.now() }, ...args),
      becomeGuest: () => void vi.stubEnv('AWS_ACCESS_KEY_ID', ACCESS_KEY_OF_A_GUEST),
      made: () => madeIn(world),
    } satisfies SetupLab);
  });
  afterEach(async () => {
    vi.unstubAllEnvs();
    rmSync(file, { force: true });
    await close();
  });
  return lab;
}

function changeIn({ service, operation }: Requested): readonly string[] {
  const isRead = /^(?:GET |Get|List|Describe|unknown)/.test(operation) || operation.endsWith('authcheck');
  return isRead || service === 'unknown' ? [] : [operation];
}

function madeIn({ coderd, secrets, account }: World) {
  return {
    users: coderd
      .users()
      .flatMap(({ username, memberOf }) => (memberOf ? [[username, [...memberOf.values()]]] : [])),
    secrets: secrets.all().map(({ name, value }) => [name, value !== undefined]),
    requested: [...account.requested],
    role: account.serviceRole,
  };
}
