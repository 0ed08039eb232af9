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
import { acknowledge } from '../shared/acknowledge.ts';
import type { ManagedKey } from '../shared/managed-key.ts';
import { acknowledgeWildcards } from '../shared/wildcards.ts';
import type { AutoscalerFunctionProps } from './function-props.ts';
import { KeyFunction } from './key-function.ts';
import { grantRotating } from './operator-grants.ts';

export type ManagedKeysProps = Omit<AutoscalerFunctionProps, 'token'> & {
  readonly keys: ManagedKeysSettings;
  readonly pools: readonly DeployedPool[];
  readonly coderUrl: string;
  /** The key function reaches coderd once these resources exist. */
  readonly ready: IDependable;
};

const SWEEP_EVERY = Duration.minutes(15);

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
    const secrets = pools.map((pool): [DeployedPool, ISecret] => [pool, addSecret(this, pool)]);
    this.#cluster = props.cluster;
    this.#secrets = secrets.map(([, secret]) => secret);
    const keyFunction = new KeyFunction(this, 'Function', { ...props, token: keys.token });
    this.function = keyFunction.function;
    const provider = addProvider(this, props, this.function);
    const permission = permitRotation(this.function);
    this.byPool = Object.fromEntries(
      secrets.map(([pool, secret]) => {
        const key = addKey(this, { pool, secret, provider, coderUrl });
        // On deletion the function still needs its permissions and its way to coderd.
        key.node.addDependency(keyFunction, provider, ready);
        addRotation(this, { pool, secret, keys, function: this.function, after: [key, permission] });
        return [pool.name, { secret, ready: key }];
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
  { logGroup, kmsKey }: Pick<AutoscalerFunctionProps, 'logGroup' | 'kmsKey'>,
  onEventHandler: IFunction,
): Provider {
  const provider = new Provider(scope, 'Provider', {
    onEventHandler,
    logGroup,
    ...(kmsKey && { providerFunctionEnvEncryption: kmsKey }),
  });
  acknowledge(
    provider,
    {
      id: 'AwsSolutions-IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/AWSLambdaBasicExecutionRole]',
      reason: PROVIDER,
    },
    { id: 'AwsSolutions-L1', reason: PROVIDER },
    { id: 'Serverless-LambdaTracing', reason: PROVIDER },
    { id: 'Serverless-LambdaDefaultMemorySize', reason: PROVIDER },
    { id: 'Serverless-LambdaDLQ', reason: PROVIDER },
    { id: 'Serverless-LambdaAsyncFailureDestination', reason: PROVIDER },
  );
  acknowledgeWildcards(provider, { resource: `${onEventHandler.functionArn}:*`, reason: PROVIDER });
  return provider;
}

const PROVIDER =
  "CDK's own function for custom resources. It answers CloudFormation, and only CloudFormation invokes it";

type KeyParts = {
  readonly pool: DeployedPool;
  readonly secret: ISecret;
  readonly provider: Provider;
  readonly coderUrl: string;
};

function addKey(scope: Construct, { pool, secret, provider, coderUrl }: KeyParts): CustomResource {
  const tags = Object.entries(pool.tags).sort(([a], [b]) => (a < b ? -1 : 1));
  return new CustomResource(scope, `Key-${pool.name}`, {
    serviceToken: provider.serviceToken,
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

type Rotation = {
  readonly pool: DeployedPool;
  readonly secret: ISecret;
  readonly keys: ManagedKeysSettings;
  readonly function: IFunction;
  readonly after: readonly IDependable[];
};

function addRotation(scope: Construct, rotation: Rotation): void {
  const { pool, secret, keys } = rotation;
  new CfnRotationSchedule(scope, `Rotation-${pool.name}`, {
    secretId: secret.secretArn,
    rotationLambdaArn: rotation.function.functionArn,
    rotationRules: { automaticallyAfterDays: keys.rotateAfterDays },
    rotateImmediatelyOnUpdate: false,
  }).node.addDependency(...rotation.after);
}

/** Deletes retired keys. A run without any makes one call for each organization. */
function addSweep(scope: Construct, target: IFunction): void {
  const rule = new Rule(scope, 'Sweep', {
    description: 'Deletes provisioner keys that no task and no daemon uses any more',
    schedule: Schedule.rate(SWEEP_EVERY),
    targets: [
      new LambdaFunction(target, {
        event: RuleTargetInput.fromObject({ sweep: true }),
        retryAttempts: 0,
      }),
    ],
  });
  const reason = 'A lost run needs no retry: the next one, 15 minutes later, looks at everything again';
  acknowledge(rule, { id: 'Serverless-EventBusDLQ', reason });
}
