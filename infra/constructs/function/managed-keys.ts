import { type CfnResource, CustomResource, Duration, Stack, Tags } from 'aws-cdk-lib';
import type { ICluster } from 'aws-cdk-lib/aws-ecs';
import { Rule, RuleTargetInput, Schedule } from 'aws-cdk-lib/aws-events';
import { LambdaFunction } from 'aws-cdk-lib/aws-events-targets';
import { type Grant, type IGrantable, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import { CfnRotationSchedule, CfnSecret, type ISecret, Secret } from 'aws-cdk-lib/aws-secretsmanager';
import { Provider } from 'aws-cdk-lib/custom-resources';
import { Construct, type IDependable } from 'constructs';
import type { DeployedPool } from '../../../lambda/config/rules/deployment.ts';
import type { ManagedKeys as ManagedKeysSettings } from '../../../lambda/decision/model/config.ts';
import { POOL_TAG, STACK_TAG } from '../../../lambda/decision/model/service-tags.ts';
import { acknowledge, acknowledgeAll, acknowledgeWildcards } from '../shared/nag.ts';
import type { ManagedKey } from '../shared/secrets.ts';
import { KeyFunction } from './key-function.ts';
import type { NodeFunctionProps } from './node-function.ts';
import { grantRotating } from './operator-grants.ts';

export type ManagedKeysProps = Omit<NodeFunctionProps, 'token'> & {
  readonly keys: ManagedKeysSettings;
  readonly pools: readonly DeployedPool[];
  readonly coderUrl: string;
  /** The key function reaches coderd once these resources exist. */
  readonly ready: IDependable;
};

/**
 * The provisioner keys that this stack makes, rotates and deletes (ADR 32). Each pool has a secret,
 * which the key function fills, and a custom resource that runs it when the stack changes.
 */
export class ManagedKeys extends Construct {
  /** By pool name. */
  readonly byPool: Readonly<Record<string, ManagedKey>>;
  readonly function: IFunction;
  readonly #secrets: readonly ISecret[];
  readonly #cluster: ICluster;

  constructor(scope: Construct, id: string, { keys, pools, coderUrl, ready, ...props }: ManagedKeysProps) {
    super(scope, id);
    const managed = pools.map((pool): Managed => ({ pool, secret: addSecret(this, pool) }));
    this.#cluster = props.cluster;
    this.#secrets = managed.map(({ secret }) => secret);
    const keyFunction = new KeyFunction(this, 'Function', { ...props, token: keys.token });
    this.function = keyFunction.function;
    const provider = addProvider(this, props, this.function);
    const permission = permitRotation(this.function);
    this.byPool = Object.fromEntries(
      managed.map((each) => {
        const key = addKey(this, each, provider, coderUrl);
        // On deletion the function still needs its permissions and its way to coderd.
        key.node.addDependency(keyFunction, provider, ready);
        const rotation = addRotation(this, each, this.function, keys.rotateAfterDays);
        rotation.node.addDependency(key, permission);
        return [each.pool.name, { secret: each.secret, ready: key }];
      }),
    );
    addSweep(this, this.function);
  }

  /** Whether any pool has a managed key now. */
  get hasPools(): boolean {
    return this.#secrets.length > 0;
  }

  /** Allows what `autoscaler keys rotate` calls: starting a rotation of these keys. */
  grantRotate(grantee: IGrantable): Grant {
    const { function: keyFunction } = this;
    return grantRotating(this, grantee, { cluster: this.#cluster, secrets: this.#secrets, keyFunction });
  }
}

/** A secret without a value. CDK's own `Secret` would generate one, and tasks would start with it. */
function addSecret(scope: Construct, { name }: DeployedPool): ISecret {
  const secret = new CfnSecret(scope, `Secret-${name}`, {
    description: `Provisioner key of pool ${name}. The stack writes and rotates it: do not change it here`,
  });
  for (const [tag, value] of Object.entries({ [POOL_TAG]: name, [STACK_TAG]: Stack.of(scope).stackName }))
    Tags.of(secret).add(tag, value);
  acknowledge(secret, {
    id: 'AwsSolutions-SMG4',
    reason: 'The secret is rotated: a rotation schedule of this stack refers to it',
  });
  return Secret.fromSecretCompleteArn(scope, `Imported-${name}`, secret.ref);
}

function addProvider(
  scope: Construct,
  { logGroup, kmsKey }: Pick<NodeFunctionProps, 'logGroup' | 'kmsKey'>,
  onEventHandler: IFunction,
): Provider {
  const provider = new Provider(scope, 'Provider', {
    onEventHandler,
    logGroup,
    ...(kmsKey && { providerFunctionEnvEncryption: kmsKey }),
  });
  const reason =
    "CDK's own function for custom resources. It answers CloudFormation, and only CloudFormation invokes it";
  acknowledgeAll(
    provider,
    reason,
    'AwsSolutions-IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/AWSLambdaBasicExecutionRole]',
    'AwsSolutions-L1',
    'Serverless-LambdaTracing',
    'Serverless-LambdaDefaultMemorySize',
    'Serverless-LambdaDLQ',
    'Serverless-LambdaAsyncFailureDestination',
  );
  acknowledgeWildcards(provider, { resource: `${onEventHandler.functionArn}:*`, reason });
  return provider;
}

/** A pool with a managed key, and the secret that holds it. */
type Managed = { readonly pool: DeployedPool; readonly secret: ISecret };

function addKey(
  scope: Construct,
  { pool, secret }: Managed,
  { serviceToken }: Provider,
  coderUrl: string,
): CustomResource {
  const tags = Object.entries(pool.tags).sort(([a], [b]) => (a < b ? -1 : 1));
  return new CustomResource(scope, `Key-${pool.name}`, {
    serviceToken,
    resourceType: 'Custom::CoderProvisionerKey',
    properties: {
      Pool: pool.name,
      Organization: pool.organization,
      // CloudFormation turns numbers and booleans into text, but not the other way around.
      Tags: JSON.stringify(Object.fromEntries(tags)),
      SecretArn: secret.secretArn,
      // Another coderd needs another key before the tasks connect to it.
      CoderUrl: coderUrl,
    },
  });
}

/** Only Secrets Manager of this account may invoke the function to rotate. */
function permitRotation(target: IFunction): Construct {
  target.addPermission('Rotation', {
    principal: new ServicePrincipal('secretsmanager.amazonaws.com'),
    sourceAccount: Stack.of(target).account,
  });
  return target.permissionsNode.findChild('Rotation') as CfnResource;
}

function addRotation(
  scope: Construct,
  { pool, secret }: Managed,
  { functionArn }: IFunction,
  automaticallyAfterDays: number,
): CfnRotationSchedule {
  return new CfnRotationSchedule(scope, `Rotation-${pool.name}`, {
    secretId: secret.secretArn,
    rotationLambdaArn: functionArn,
    rotationRules: { automaticallyAfterDays },
    rotateImmediatelyOnUpdate: false,
  });
}

/** Deletes retired keys. A run without any makes one call for each organization. */
function addSweep(scope: Construct, target: IFunction): void {
  const rule = new Rule(scope, 'Sweep', {
    description: 'Deletes provisioner keys that no task and no daemon uses any more',
    schedule: Schedule.rate(Duration.minutes(15)),
    targets: [
      new LambdaFunction(target, { event: RuleTargetInput.fromObject({ sweep: true }), retryAttempts: 0 }),
    ],
  });
  const reason = 'A lost run needs no retry: the next one, 15 minutes later, looks at everything again';
  acknowledge(rule, { id: 'Serverless-EventBusDLQ', reason });
}
