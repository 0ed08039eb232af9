/** AWS with the credentials of a person: what setup reads, and the secrets and requests that it makes. */
import { CloudFormationClient, DescribeStacksCommand } from '@aws-sdk/client-cloudformation';
import { ECSClient } from '@aws-sdk/client-ecs';
import { IAMClient } from '@aws-sdk/client-iam';
import {
  CreateSecretCommand,
  DescribeSecretCommand,
  PutSecretValueCommand,
  SecretsManagerClient,
} from '@aws-sdk/client-secrets-manager';
import {
  GetServiceQuotaCommand,
  ListRequestedServiceQuotaChangeHistoryByQuotaCommand,
  RequestServiceQuotaIncreaseCommand,
  ServiceQuotasClient,
} from '@aws-sdk/client-service-quotas';
import { GetParametersCommand, SSMClient } from '@aws-sdk/client-ssm';
import { GetCallerIdentityCommand, STSClient } from '@aws-sdk/client-sts';
import { AWS_TIMEOUTS } from '../../lambda/adapters/shared/aws-calls.ts';
import type { Secret } from '../../lambda/adapters/shared/secret.ts';
import { messageOf } from '../../lambda/decision/model/message-of.ts';
import { readAwsSetup, withAdvice } from '../shared/aws-advice.ts';
import { InputError } from '../shared/cli-environment.ts';
import { makeServiceRole, readServiceRole } from '../shared/service-role.ts';
import type { AwsSeen, Quota, SecretState, Seen } from './situation.ts';

/** What `cdk bootstrap` writes, with the default qualifier (docs/internals/aws.md §7). */
const BOOTSTRAP = '/cdk-bootstrap/hnb659fds/version';
const SERVICE = 'fargate';
const OPEN_REQUESTS: ReadonlySet<string> = new Set(['PENDING', 'CASE_OPENED']);

type AwsWanted = {
  readonly secrets: readonly string[];
  readonly quotas: readonly string[];
  readonly stack: string;
};

export class AwsSide {
  readonly #settings = { requestHandler: AWS_TIMEOUTS };
  readonly #secrets = new SecretsManagerClient(this.#settings);
  readonly #quotas = new ServiceQuotasClient(this.#settings);
  readonly #stacks = new CloudFormationClient(this.#settings);
  readonly #parameters = new SSMClient(this.#settings);
  readonly #identity = new STSClient(this.#settings);
  readonly #iam = new IAMClient(this.#settings);
  readonly #ecs = new ECSClient(this.#settings);

  /** Never throws: missing credentials are a problem to show. */
  async look({ secrets, quotas, stack }: AwsWanted): Promise<Seen<AwsSeen>> {
    const setup = await readAwsSetup(this.#ecs);
    if ('problem' in setup) return setup;
    try {
      const { Account = '', Arn = '' } = await this.#identity.send(new GetCallerIdentityCommand({}));
      const [states, found, serviceRole, bootstrap, status] = await Promise.all([
        Promise.all(secrets.map((name) => this.#stateOf(name))),
        Promise.all(quotas.map((code) => this.#quota(code))),
        readServiceRole(this.#iam),
        this.#bootstrap(),
        this.#stack(stack),
      ]);
      const value = {
        region: setup.region,
        account: Account,
        caller: Arn,
        secrets: new Map(secrets.map((name, index) => [name, states[index] ?? 'unknown'])),
        quotas: new Map(
          quotas.flatMap((code, index) => (found[index] ? [[code, found[index]] as const] : [])),
        ),
        serviceRole,
        bootstrap,
        stack: status,
      };
      return { value };
    } catch (cause) {
      return { problem: `asking AWS who you are: ${withAdvice(`${nameOf(cause)}: ${messageOf(cause)}`)}` };
    }
  }

  /** Without a value: if that is not allowed, there is no token or key to undo. Returns the full ARN. */
  createSecret(name: string, state: SecretState | undefined): Promise<string> {
    return changing(`creating the secret ${name}`, async () => {
      const { ARN = name } = await (state === 'empty'
        ? this.#secrets.send(new DescribeSecretCommand({ SecretId: name }))
        : this.#secrets.send(new CreateSecretCommand({ Name: name })));
      return ARN;
    });
  }

  putSecret(name: string, value: Secret): Promise<void> {
    return changing(`storing the value of the secret ${name}`, async () => {
      const request = { SecretId: name, SecretString: value.reveal() };
      await this.#secrets.send(new PutSecretValueCommand(request)).catch((cause: unknown) => {
        // the message of an error about a field could repeat the value
        throw new InputError(nameOf(cause));
      });
    });
  }

  requestQuota(code: string, vcpus: number): Promise<void> {
    return changing(`requesting ${vcpus} vCPUs of Fargate`, async () => {
      const request = { ServiceCode: SERVICE, QuotaCode: code, DesiredValue: vcpus };
      await this.#quotas.send(new RequestServiceQuotaIncreaseCommand(request));
    });
  }

  makeServiceRole(): Promise<void> {
    return changing('making the role of ECS', () => makeServiceRole(this.#iam));
  }

  close(): void {
    for (const client of [
      this.#secrets,
      this.#quotas,
      this.#stacks,
      this.#parameters,
      this.#identity,
      this.#iam,
      this.#ecs,
    ])
      client.destroy();
  }

  async #stateOf(name: string): Promise<SecretState> {
    try {
      const found = await this.#secrets.send(new DescribeSecretCommand({ SecretId: name }));
      if (found.DeletedDate !== undefined) return 'deleted';
      const isStored = Object.values(found.VersionIdsToStages ?? {})
        .flat()
        .includes('AWSCURRENT');
      return isStored ? 'stored' : 'empty';
    } catch (cause) {
      return nameOf(cause) === 'ResourceNotFoundException' ? 'missing' : 'unknown';
    }
  }

  async #quota(QuotaCode: string): Promise<Quota | undefined> {
    const asked = { ServiceCode: SERVICE, QuotaCode };
    try {
      const { Quota } = await this.#quotas.send(new GetServiceQuotaCommand(asked));
      if (Quota?.Value === undefined) return undefined;
      const history = new ListRequestedServiceQuotaChangeHistoryByQuotaCommand(asked);
      const { RequestedQuotas = [] } = await this.#quotas.send(history);
      const open = RequestedQuotas.find(({ Status = '' }) => OPEN_REQUESTS.has(Status))?.DesiredValue;
      return { vcpus: Quota.Value, ...(open === undefined ? {} : { requested: open }) };
    } catch {
      return undefined;
    }
  }

  async #bootstrap(): Promise<string> {
    try {
      const { Parameters = [] } = await this.#parameters.send(
        new GetParametersCommand({ Names: [BOOTSTRAP] }),
      );
      return Parameters[0]?.Value ?? 'none';
    } catch {
      return 'unknown';
    }
  }

  async #stack(StackName: string): Promise<string> {
    if (StackName === '') return 'unknown';
    try {
      const { Stacks = [] } = await this.#stacks.send(new DescribeStacksCommand({ StackName }));
      return Stacks[0]?.StackStatus ?? 'none';
    } catch (cause) {
      return messageOf(cause).includes('does not exist') ? 'none' : 'unknown';
    }
  }
}

/** An error of the SDK may repeat the request, but not its value: the message is AWS's. */
async function changing<T>(doing: string, change: () => Promise<T>): Promise<T> {
  try {
    return await change();
  } catch (cause) {
    const said = cause instanceof InputError ? cause.message : `${nameOf(cause)}: ${messageOf(cause)}`;
    throw new InputError(`${doing}: ${said}`);
  }
}

const nameOf = (cause: unknown): string => (cause instanceof Error ? cause.name : 'Error');
