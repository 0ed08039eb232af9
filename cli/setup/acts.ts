/** Does the steps. Each act finds what exists and makes only the rest, so it can be cut short anywhere. */
import { createHash } from 'node:crypto';
import { messageOf } from '../../lambda/decision/model/message-of.ts';
import { some } from '../../lambda/explain/format.ts';
import { checksText } from '../doctor/check/check.ts';
import { diagnose } from '../doctor/command.ts';
import { poolsText } from '../draft/screen.ts';
import { writeDraft } from '../draft/write.ts';
import { type CliEnvironment, InputError } from '../shared/cli-environment.ts';
import { costText, priceNotes } from '../shared/cost-text.ts';
import { SERVICE_ROLE_COMMAND } from '../shared/service-role.ts';
import { shellLine } from '../shared/shell-words.ts';
import type { AwsSide } from './aws-side.ts';
import type { CoderSide, Session } from './coder-side.ts';
import { writeFullArn } from './full-arns.ts';
import {
  findOrganization,
  missingAccess,
  missingKeys,
  missingTokens,
  quotaNeeds,
  ROLE,
  type Situation,
  shortQuotas,
  stateOf,
  valueIn,
} from './situation.ts';
import { type Step, type StepId, storedText } from './steps.ts';

export type Hands = {
  readonly session: Session | undefined;
  readonly coder: CoderSide | undefined;
  readonly aws: AwsSide;
  readonly cliEnvironment: CliEnvironment;
  readonly say: (text: string) => void;
  readonly run: NonNullable<CliEnvironment['run']>;
};

type Given = Hands & { readonly situation: Situation; readonly step: Step };

/** Does the step. Returns what was done. Throws an error that says what went wrong. */
export function act(step: Step, situation: Situation, hands: Hands): Promise<string> {
  return ACTS[step.id]({ ...hands, situation, step });
}

const ACTS: Readonly<Record<StepId, (given: Given) => Promise<string>>> = {
  config: writeConfig,
  users: makeUsers,
  tokens: makeTokens,
  keys: makeKeys,
  quota: requestQuotas,
  role: makeRole,
  bootstrap: runCommand,
  doctor: runDoctor,
  synth: runCommand,
  cost: async ({ situation }) => {
    const deployment = valueIn(situation.config);
    const { buildsPerDay: builds } = situation;
    if (deployment === undefined) return '';
    if (builds === undefined) return `${costText(deployment, builds)}. ${NO_HISTORY}`;
    const isSeen = builds === valueIn(situation.coder)?.buildsPerDay;
    const cost = costText(deployment, builds, isSeen ? ', as in the last days,' : '');
    return [cost, ...priceNotes(deployment.pools)].join('. ');
  },
  deploy: runCommand,
};

const NO_HISTORY = 'Less than two days of builds are known: add --builds-per-day N for a month with builds';

async function writeConfig({ situation, session, cliEnvironment, say }: Given): Promise<string> {
  // as long as the draft reads the token from this variable
  const CODER_SESSION_TOKEN = session?.token.reveal();
  const environment = { ...cliEnvironment.environment, CODER_SESSION_TOKEN };
  const { file, named, stack, url = '' } = situation;
  const organization = named.length === 0 ? {} : { organization: named };
  const result = await writeDraft(
    { url, config: file, json: false, ...organization, ...(stack !== undefined && { stack }) },
    { ...cliEnvironment, environment },
  );
  say(`\n${poolsText(result)}\n\n`);
  return `${file} is written. Edit it at any time: sizes, max, taskRole, network (docs/settings.md)`;
}

async function makeUsers({ situation, coder }: Given): Promise<string> {
  const changes = missingAccess(situation);
  for (const change of changes) {
    const organization = findOrganization(situation, change.organization);
    if (organization === undefined)
      throw new InputError(`coderd lists no organization "${change.organization}" for you`);
    if (change.kind === 'user')
      await coder?.createUser(change.user, organization, valueIn(situation.coder)?.version);
    else if (change.kind === 'member') await coder?.addMember(change.user, organization);
    else await coder?.setRoles(change.user, organization, [ROLE]);
  }
  return some(changes.length, 'change');
}

async function makeTokens({ situation, coder, aws, cliEnvironment }: Given): Promise<string> {
  const open = missingTokens(situation);
  const { account = '', region = '' } = valueIn(situation.aws) ?? {};
  for (const { user, secret } of open) {
    await aws.createSecret(secret, stateOf(situation, secret));
    // coderd allows 32 characters. A token of this user for another secret may be in use
    const place = createHash('sha256').update(`${account}/${region}/${secret}`).digest('hex');
    const token = await coder?.createToken(user, `setup-${place.slice(0, 16)}`, cliEnvironment.now());
    if (token === undefined) continue;
    await orUndo(
      () => aws.putSecret(secret, token),
      async () => coder?.deleteToken(user, token),
    );
  }
  return storedText(open.map(({ secret }) => secret));
}

async function makeKeys({ situation, coder, aws }: Given): Promise<string> {
  const open = missingKeys(situation);
  for (const { pool, secret } of open) {
    const { name, organization: named, tags } = pool;
    const organization = findOrganization(situation, named);
    if (organization === undefined || coder === undefined)
      throw new InputError(`coderd lists no organization "${named}" for you`);
    const arn = await aws.createSecret(secret, stateOf(situation, secret));
    const key = await coder.keys.create(organization, { name, tags });
    if (key === 'name-taken')
      throw new InputError(
        `coderd has a key "${name}" in the organization ${organization.name}, and never shows it again. If no daemon uses it, run: ${shellLine(['coder', 'provisioner', 'keys', 'delete', name, '--org', organization.name])}. Then run setup again`,
      );
    await orUndo(
      () => aws.putSecret(secret, key),
      () => coder.keys.delete(organization, name),
    );
    writeFullArn(situation.file, secret, arn);
  }
  return `stored ${some(open.length, 'key')}. ${situation.file} now has the full ARN of each secret`;
}

/** What nobody holds must not stay valid. */
async function orUndo(store: () => Promise<void>, undo: () => Promise<unknown>): Promise<void> {
  try {
    await store();
  } catch (cause) {
    await undo().catch((second: unknown) => {
      throw new InputError(`${messageOf(cause)}; and ${messageOf(second)}: delete it yourself`);
    });
    throw cause;
  }
}

async function requestQuotas({ situation, aws }: Given): Promise<string> {
  const short = shortQuotas(quotaNeeds(situation));
  for (const { code, vcpus } of short) await aws.requestQuota(code, vcpus);
  return `requested ${short.map(({ name, vcpus }) => `${vcpus} ${name} vCPUs`).join(' and ')}`;
}

async function makeRole({ aws }: Given): Promise<string> {
  await aws.makeServiceRole().catch((cause: unknown) => {
    throw new InputError(
      `${messageOf(cause)}. If this account never had a cluster of ECS, somebody with iam:CreateServiceLinkedRole runs: ${SERVICE_ROLE_COMMAND}`,
    );
  });
  return 'the role exists';
}

async function runDoctor({ situation: { file }, cliEnvironment, say }: Given): Promise<string> {
  const checks = await diagnose({ config: file, json: true }, cliEnvironment);
  const told = checks.filter(({ status }) => status === 'FAIL' || status === 'warn');
  if (told.length > 0) say(`\n${checksText(told)}\n`);
  const failed = checks.filter(({ status }) => status === 'FAIL').length;
  if (failed > 0)
    throw new InputError(
      `${some(failed, 'check')} failed. Mend what the lines above say, then run setup again`,
    );
  const passed = checks.filter(({ status }) => status === 'ok').length;
  return `${some(passed, 'check')} passed. Run it again after the deployment: it then checks the tasks too`;
}

async function runCommand({ step: { runs = [] }, run }: Given): Promise<string> {
  const code = await run(runs);
  if (code !== 0) throw new InputError(`"${shellLine(runs)}" ended with ${code}`);
  return 'the command succeeded';
}
