/** Plans the steps of `autoscaler setup` from what was seen. Pure; `acts.ts` does the steps. */

import { DEFAULT_STACK } from '../../lambda/config/schema/aws-schema.ts';
import { sum, unique } from '../../lambda/decision/model/collections.ts';
import { needsServiceAccounts } from '../../lambda/decision/model/version.ts';
import { few, some } from '../../lambda/explain/format.ts';
import { DEFAULT_CONFIG } from '../shared/cli-environment.ts';
import {
  createKeyCommand,
  createTokenCommand,
  keyCommand,
  SHELL_TOKEN,
  storeTypedCommand,
  tokenCommand,
} from '../shared/credential-commands.ts';
import { SERVICE_ROLE_COMMAND } from '../shared/service-role.ts';
import { quoted, shellLine } from '../shared/shell-words.ts';
import {
  accountsOf,
  type Change,
  missingAccess,
  missingKeys,
  missingTokens,
  organizationsOf,
  type Place,
  quotaNeeds,
  ROLE,
  type SecretState,
  type Side,
  type Situation,
  shortQuotas,
  stateOf,
  storedKeys,
  valueIn,
} from './situation.ts';

export const STEP_IDS = [
  'config',
  'users',
  'tokens',
  'keys',
  'quota',
  'role',
  'bootstrap',
  'doctor',
  'synth',
  'cost',
  'deploy',
] as const;
export type StepId = (typeof STEP_IDS)[number];

export type Step = {
  readonly id: StepId;
  readonly title: string;
  /** `cannot`: `says` has the reason. */
  readonly state: 'done' | 'todo' | 'cannot';
  /** What the step will do, what was found, or why it cannot be done from here. */
  readonly says: string;
  /** What it stands for, as lines of a shell: to read and to copy. */
  readonly commands: readonly string[];
  /** The command that setup runs for it, word by word. */
  readonly runs?: readonly string[];
  /** The sides that it needs and that cannot be used from here. */
  readonly lacks: readonly Side[];
  /** The same for two people, each with one side. @default `commands`, for the side that it needs */
  readonly halves?: Readonly<Record<Side, readonly string[]>>;
  /** It changes something, so it is asked for. `no`: it costs money, so the answer is no by default. */
  readonly asks?: 'yes' | 'no';
  /** It waits for these steps. */
  readonly after: readonly StepId[];
};

export function planSteps(situation: Situation): readonly Step[] {
  return STEP_IDS.map((id) => ({ id, ...PLANS[id](situation) }));
}

type Plan = Omit<Step, 'id'>;

const PLANS: Readonly<Record<StepId, (situation: Situation) => Plan>> = {
  config: planConfig,
  users: planUsers,
  tokens: planTokens,
  keys: planKeys,
  quota: planQuota,
  role: planRole,
  bootstrap: planBootstrap,
  doctor: (situation) =>
    plan(situation, {
      title: 'Check everything',
      todo: 'Checks coderd, tokens, roles, licence, secrets and images. Changes nothing.',
      commands: [shellLine(['npx', 'autoscaler', 'doctor', ...option(situation)])],
      after: ['config', 'tokens', 'keys'],
    }),
  synth: (situation) =>
    plan(situation, {
      title: 'CloudFormation template',
      todo: 'Makes the template on this machine, offline.',
      runs: ['npx', 'cdk', 'synth', '--quiet', ...context(situation)],
      after: ['config'],
      blocked: noApp(situation),
    }),
  cost: (situation) =>
    plan(situation, {
      title: 'What it will cost',
      todo: 'Estimates an idle month and a usual one, at prices of us-east-1.',
      commands: [
        shellLine(['npx', 'autoscaler', 'validate', ...argument(situation), ...buildsOption(situation)]),
      ],
      after: ['config'],
    }),
  deploy: planDeploy,
};

type Given = {
  readonly title: string;
  /** What was found, if nothing is left to do. */
  readonly done?: string | undefined;
  readonly todo: string;
  readonly needs?: readonly Side[];
  readonly asOwner?: boolean;
  /** Another reason why it cannot be done. `lacks`: the side where somebody else can do it. */
  readonly blocked?: { readonly why: string; readonly lacks?: readonly Side[] } | undefined;
} & Partial<Pick<Step, 'commands' | 'runs' | 'halves' | 'asks' | 'after'>>;

function plan(situation: Situation, given: Given): Plan {
  const { title, done, todo, needs = [], asOwner = false, blocked, after = [], ...rest } = given;
  const problems = needs.map((side) => ({ side, problem: problemOf(situation, side, asOwner) }));
  const lacking = problems.filter(({ problem }) => problem !== undefined);
  const { runs } = rest;
  const common = { title, after, commands: runs === undefined ? [] : [shellLine(runs)], ...rest };
  if (done !== undefined) return { ...common, state: 'done', says: done, lacks: [] };
  if (blocked !== undefined) {
    const { why: says, lacks = [] } = blocked;
    // the commands are for somebody else
    const commands = lacks.length > 0 ? common.commands : [];
    return { ...common, commands, state: 'cannot', says, lacks };
  }
  if (lacking.length === 0) return { ...common, state: 'todo', says: todo, lacks: [] };
  const says = lacking.map(({ problem }) => problem).join('; ');
  return { ...common, state: 'cannot', says, lacks: lacking.map(({ side }) => side) };
}

function problemOf({ coder, aws }: Situation, side: Side, asOwner: boolean): string | undefined {
  if (side === 'aws') return 'problem' in aws ? 'AWS cannot be used from here' : undefined;
  if ('problem' in coder) return 'Coder cannot be used from here';
  const { user, isOwner } = coder.value;
  return asOwner && !isOwner ? `in Coder you are "${user}", and only an owner may do this` : undefined;
}

function planConfig(situation: Situation): Plan {
  const { config, file, named, url, stack } = situation;
  const deployment = valueIn(config);
  const organizations = named.length === 0 ? [] : ['--organization', ...named];
  const own = stack === undefined ? [] : ['--stack', stack];
  const meant = ['--url', url ?? 'https://coder.example.com', ...organizations, ...own, ...option(situation)];
  const draft = shellLine(['npx', 'autoscaler', 'setup', '--draft', ...meant]);
  return plan(situation, {
    title: `Configuration ${file}`,
    done:
      deployment &&
      `${some(deployment.pools.length, 'pool')}: ${few(deployment.pools.map(({ name }) => name))}`,
    blocked: typeof config === 'object' && 'problem' in config ? { why: config.problem } : undefined,
    todo: `Writes ${file} with a pool for each organization and each set of tags of a template. The stack makes their keys (key: managed).${sharingText(situation)}`,
    commands: [`CODER_SESSION_TOKEN=${SHELL_TOKEN} ${draft}`],
    needs: ['coder'],
    asks: 'yes',
  });
}

/** Where the new file would have pools of several organizations: the choice of one cluster or one for each. */
function sharingText({ named, coder }: Situation): string {
  const names = named.length > 0 ? named : (valueIn(coder)?.organizations ?? []).map(({ name }) => name);
  const [, second] = names;
  if (second === undefined) return '';
  const words = ['npx', 'autoscaler', 'setup', '--organization', second, '--config', `${second}.yaml`];
  const command = shellLine([...words, '--stack', `${DEFAULT_STACK}-${second}`]);
  return ` Its organizations (${few(names)}) then share one cluster, where a build of one can end builds of another (docs/deploy.md, "Shared clusters"). If they must not, answer n and make a file and a stack for each, as for ${second}: ${command}`;
}

function planUsers(situation: Situation): Plan {
  const changes = missingAccess(situation);
  const users = accountsOf(situation).map(({ user }) => user);
  const where = organizationsText(organizationsOf(situation));
  const isSeen = users.every((user) => valueIn(situation.coder)?.users.has(user));
  return plan(situation, {
    title: 'Users in Coder',
    done:
      changes.length > 0
        ? undefined
        : isSeen
          ? `${users.join(' and ')} have a role in ${where}`
          : 'their tokens are stored',
    todo: `Creates ${users.join(' and ')}, which cannot sign in, and gives them the role ${ROLE} in ${where}. Changes only what is missing.`,
    commands: changes.map((change) => commandFor(change, valueIn(situation.coder)?.version)),
    needs: ['coder'],
    asOwner: true,
    asks: 'yes',
    after: ['config'],
  });
}

const organizationsText = (names: readonly string[]): string =>
  `the organization${names.length === 1 ? '' : 's'} ${few(names)}`;

function commandFor({ kind, user, organization }: Change, version: string | undefined): string {
  const older = `--email ${user}@example.com --login-type none`;
  const login = needsServiceAccounts(version) ? '--service-account' : older;
  const note = version === undefined ? `# before Coder 2.36, instead of --service-account: ${older}\n` : '';
  const org = `--org ${quoted(organization)}`;
  if (kind === 'user') return `${note}coder users create --username ${user} ${login} ${org}`;
  if (kind === 'member') return `coder organizations members add ${user} ${org}`;
  return `coder organizations members edit-roles ${user} ${ROLE} ${org}`;
}

function planTokens(situation: Situation): Plan {
  const open = missingTokens(situation);
  const names = accountsOf(situation).map(({ secret }) => secret);
  return plan(situation, {
    title: 'Tokens in Secrets Manager',
    done: open.length === 0 ? `${storedText(names)}` : undefined,
    blocked: secretProblem(situation, open),
    todo: `Creates a token for ${open.map(({ user }) => user).join(' and one for ')}, valid for a year, and stores ${open.length === 1 ? 'it' : 'them'} as ${open.map(({ secret }) => secret).join(' and ')}. No token is shown.`,
    commands: open.map(({ user, secret }) => tokenCommand(secret, user, isThere(situation, secret))),
    halves: {
      coder: open.map(({ user }) => createTokenCommand(user)),
      aws: open.map(({ secret }) => storeTypedCommand(secret, isThere(situation, secret))),
    },
    needs: ['coder', 'aws'],
    asOwner: true,
    asks: 'yes',
    after: ['config', 'users'],
  });
}

/** That these secrets have a value. */
export const storedText = (names: readonly string[]): string =>
  `${names.join(' and ')} ${names.length === 1 ? 'is' : 'are'} stored`;

const isThere = (situation: Situation, secret: string): boolean => stateOf(situation, secret) === 'empty';

function secretProblem(situation: Situation, open: readonly Place[]): Given['blocked'] {
  const json = open.find(({ jsonKey }) => jsonKey !== undefined);
  if (json !== undefined)
    return { why: `store the key "${json.jsonKey}" in the JSON of the secret ${json.secret} yourself` };
  const named = (state: SecretState) =>
    open.find(({ secret }) => stateOf(situation, secret) === state)?.secret;
  const [deleted, unknown] = [named('deleted'), named('unknown')];
  if (deleted !== undefined)
    return {
      why: `the secret ${deleted} is marked for deletion. Run: aws secretsmanager restore-secret --secret-id ${quoted(deleted)}`,
    };
  return unknown === undefined
    ? undefined
    : {
        why: `AWS does not let you look at the secret ${unknown}. You need secretsmanager:DescribeSecret, CreateSecret and PutSecretValue`,
        lacks: ['aws'],
      };
}

function planKeys(situation: Situation): Plan {
  const open = missingKeys(situation);
  const keys = open.map(({ pool: { name, organization, tags }, secret }) => ({
    name,
    organization,
    tags,
    key: secret,
  }));
  const isManaged = storedKeys(valueIn(situation.config)).length === 0;
  return plan(situation, {
    title: 'Keys of the pools',
    done: open.length > 0 ? undefined : isManaged ? 'the stack makes them (key: managed)' : 'all are stored',
    blocked: secretProblem(situation, open),
    todo: `Creates a provisioner key for ${few(open.map(({ pool }) => pool.name))}, stores each in its secret, and writes the secret's full ARN to ${situation.file}. No key is shown.`,
    commands: keys.map(keyCommand),
    halves: {
      coder: keys.map(createKeyCommand),
      aws: open.map(({ secret }) => storeTypedCommand(secret, isThere(situation, secret))),
    },
    needs: ['coder', 'aws'],
    asOwner: true,
    asks: 'yes',
    after: ['config'],
  });
}

function planQuota(situation: Situation): Plan {
  const needs = quotaNeeds(situation);
  const short = shortQuotas(needs);
  const isUnknown = needs.some(({ has }) => has === undefined);
  const limits = valueIn(situation.config)?.limits;
  const wanted = short.map(({ name, vcpus }) => `${vcpus} ${name} vCPUs`).join(' and ');
  const wantedFor = few(
    unique(
      short.flatMap(({ pools }) => pools),
      (pool) => pool,
    ),
  );
  const texts = needs.map(
    ({ name, quota, requested, vcpus }) =>
      `the quota is ${quota ?? '?'} ${name} vCPUs${requested === undefined ? '' : ` (${requested} are requested)`}, and all pools at their max need ${vcpus}`,
  );
  const unknown: Given['blocked'] =
    needs.length === 0
      ? { why: 'it needs the configuration, which says how many vCPUs. Run setup again when you have it' }
      : { why: 'AWS does not tell the quota. You need servicequotas:GetServiceQuota', lacks: ['aws'] };
  return plan(situation, {
    title: 'Quota of Fargate',
    done: needs.length > 0 && !isUnknown && wanted === '' ? texts.join('; ') : undefined,
    blocked: valueIn(situation.aws) && (isUnknown || needs.length === 0) ? unknown : undefined,
    todo: `Requests ${wanted} for ${wantedFor}, within limits.maxTasks: ${limits?.maxTasks}. It costs nothing, and AWS may take days: ${texts.join('; ')}. Until then jobs wait at the quota. If you need fewer, skip this, and lower max or limits.maxTasks.`,
    commands: (isUnknown ? needs : short).map(
      ({ code, vcpus }) =>
        `aws service-quotas request-service-quota-increase --service-code fargate --quota-code ${code} --desired-value ${vcpus}`,
    ),
    needs: ['aws'],
    asks: 'yes',
    after: ['config'],
  });
}

/** Whoever may not look may still make it. */
function planRole(situation: Situation): Plan {
  const isThere = valueIn(situation.aws)?.serviceRole === 'there';
  return plan(situation, {
    title: 'Role of ECS in the account',
    done: isThere ? 'AWSServiceRoleForECS exists' : undefined,
    todo: 'Makes AWSServiceRoleForECS if the account has none: without it the first deployment of an account fails. Once for each account.',
    commands: [SERVICE_ROLE_COMMAND],
    needs: ['aws'],
    asks: 'yes',
  });
}

function planBootstrap(situation: Situation): Plan {
  const { account = 'ACCOUNT', region = 'REGION', bootstrap = 'none' } = valueIn(situation.aws) ?? {};
  const unknown: Given['blocked'] = {
    why: 'AWS does not let you look whether it is there. You need ssm:GetParameters',
    lacks: ['aws'],
  };
  return plan(situation, {
    title: 'Bootstrap of CDK',
    done: /^\d+$/.test(bootstrap) ? `version ${bootstrap}` : undefined,
    blocked: noApp(situation) ?? (bootstrap === 'unknown' ? unknown : undefined),
    todo: `Creates a bucket and roles for CDK in account ${account}, ${region}. Once for each account and Region.`,
    runs: ['npx', 'cdk', 'bootstrap', `aws://${account}/${region}`, ...context(situation)],
    needs: ['aws'],
    asks: 'yes',
  });
}

function planDeploy(situation: Situation): Plan {
  const { stack: status = 'none', bootstrap } = valueIn(situation.aws) ?? {};
  const deployment = valueIn(situation.config);
  const isThere =
    status.endsWith('_COMPLETE') && status !== 'ROLLBACK_COMPLETE' && status !== 'DELETE_COMPLETE';
  const runs = ['npx', 'cdk', 'deploy', ...context(situation)];
  const vcpus = deployment === undefined ? '' : ` (${sum(deployment.pools, ({ cpu }) => cpu) / 1024} vCPUs)`;
  return plan(situation, {
    title: 'Deployment',
    done: isThere
      ? `the stack is ${status}. After a change of ${situation.file} run: ${shellLine(runs)}`
      : undefined,
    blocked:
      noApp(situation) ??
      (status.endsWith('_IN_PROGRESS') ? { why: `the stack is ${status}: wait for its end` } : undefined),
    todo: `Creates the stack. It shows the IAM changes and asks again. At first one task of each pool starts${vcpus}; spare ones drain within minutes.`,
    runs,
    needs: ['aws'],
    asks: 'no',
    // with the roles of the bootstrap CDK may deploy, though the caller may not look
    after: [
      'config',
      'tokens',
      'keys',
      'role',
      'doctor',
      'synth',
      ...(bootstrap === 'unknown' ? [] : (['bootstrap'] as const)),
    ],
  });
}

function noApp({ hasApp, lacksCdk = false }: Situation): Given['blocked'] {
  if (lacksCdk) return { why: 'the command cdk is not installed in this clone. Run: npm ci' };
  if (hasApp) return undefined;
  return {
    why: 'the CDK app is not in this folder. Use the construct in your own app, or autoscaler synth for a plain template (docs/terraform.md)',
  };
}

const isDefault = ({ file }: Situation): boolean => file === DEFAULT_CONFIG;
const option = (situation: Situation) => (isDefault(situation) ? [] : ['--config', situation.file]);
const argument = (situation: Situation) => (isDefault(situation) ? [] : [situation.file]);
const context = (situation: Situation) => (isDefault(situation) ? [] : ['-c', `config=${situation.file}`]);
const buildsOption = ({ buildsPerDay }: Situation) =>
  buildsPerDay === undefined ? [] : ['--builds-per-day', `${buildsPerDay}`];
