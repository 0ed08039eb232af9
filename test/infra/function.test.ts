import { Match, type Template } from 'aws-cdk-lib/assertions';
import { describe, expect, it } from 'vitest';
import { operate } from './support/operated.ts';

const outside = operate({ settings: { inVpc: false }, alarms: { emails: ['night@example.com'] } });
const everything = operate({ settings: { tracing: true, reservedConcurrency: 2 }, encrypted: true });

const region = { Ref: 'AWS::Region' };
const account = { Ref: 'AWS::AccountId' };
const arn = (...parts: unknown[]): object => ({
  'Fn::Join': ['', ['arn:', { Ref: 'AWS::Partition' }, ...parts]],
});
const ofEcs = (resource: string): object => arn(':ecs:', region, ':', account, `:${resource}`);
/** With and without the suffix. */
const token = ['', '-??????'].map((suffix) =>
  arn(':secretsmanager:', region, ':', account, `:secret:coder/autoscaler-token${suffix}`),
);
const attribute = (of: Template, type: string, name = 'Arn', like: object = {}): object => ({
  'Fn::GetAtt': [Object.keys(of.findResources(type, like))[0], name],
});
const queueArn = (of: Template, retentionS: number): object =>
  attribute(of, 'AWS::SQS::Queue', 'Arn', { Properties: { MessageRetentionPeriod: retentionS } });
/** Sending the message for the next look, and receiving it for the function. */
const messages = (of: Template): object => ({
  Effect: 'Allow',
  Action: ['sqs:DeleteMessage', 'sqs:GetQueueAttributes', 'sqs:ReceiveMessage', 'sqs:SendMessage'],
  Resource: queueArn(of, 60),
});

type Policy = {
  readonly Properties: {
    readonly Roles: readonly unknown[];
    readonly PolicyDocument: { readonly Statement: readonly object[] };
  };
};

/** The permissions of the role that trusts this service. */
function permissions(of: Template, service: string): readonly object[] {
  const roles = Object.keys(
    of.findResources('AWS::IAM::Role', {
      Properties: {
        AssumeRolePolicyDocument: {
          Statement: [Match.objectLike({ Principal: { Service: `${service}.amazonaws.com` } })],
        },
      },
    }),
  );
  expect(roles).toHaveLength(1);
  const policies = Object.values(of.findResources('AWS::IAM::Policy') as Record<string, Policy>);
  return policies
    .filter(({ Properties }) => JSON.stringify(Properties.Roles) === JSON.stringify([{ Ref: roles[0] }]))
    .flatMap(({ Properties }) => Properties.PolicyDocument.Statement);
}

const ofALook = [
  {
    Effect: 'Allow',
    Action: ['ecs:ListServices', 'ecs:ListTasks'],
    Resource: '*',
    Condition: { ArnEquals: { 'ecs:cluster': ofEcs('cluster/builds') } },
  },
  { Effect: 'Allow', Action: 'ecs:DescribeServices', Resource: ofEcs('service/builds/*') },
  {
    Effect: 'Allow',
    Action: 'ecs:UpdateService',
    Resource: ofEcs('service/builds/*'),
    Condition: {
      StringEquals: { 'aws:ResourceTag/coder-autoscaler:stack': 'Test' },
      ArnLikeIfExists: { 'ecs:task-definition': ofEcs('task-definition/TestAutoscalerPool*') },
      StringNotEqualsIfExists: {
        'ecs:enable-ebs-volumes': 'true',
        'ecs:enable-execute-command': 'true',
        'ecs:enable-service-connect': 'true',
        'ecs:enable-vpc-lattice': 'true',
      },
    },
  },
  {
    Effect: 'Allow',
    Action: ['ecs:DescribeTasks', 'ecs:GetTaskProtection', 'ecs:UpdateTaskProtection'],
    Resource: ofEcs('task/builds/*'),
  },
  { Effect: 'Allow', Action: 'secretsmanager:GetSecretValue', Resource: token },
  {
    Effect: 'Allow',
    Action: 'kms:Decrypt',
    Resource: arn(':kms:', region, ':*:key/*'),
    Condition: {
      StringEquals: {
        'kms:ViaService': [
          { 'Fn::Join': ['', ['secretsmanager.', region, '.amazonaws.com']] },
          { 'Fn::Join': ['', ['secretsmanager.', region, '.', { Ref: 'AWS::URLSuffix' }]] },
        ],
      },
      StringLike: { 'kms:EncryptionContext:SecretARN': token },
    },
  },
];
const record = (of: Template): object => ({
  Effect: 'Allow',
  Action: ['ssm:GetParameters', 'ssm:PutParameter'],
  Resource: arn(':ssm:', region, ':', account, ':parameter', {
    Ref: Object.keys(of.findResources('AWS::SSM::Parameter'))[0],
  }),
});
const logs = (of: Template): object => ({
  Effect: 'Allow',
  Action: ['logs:CreateLogStream', 'logs:PutLogEvents'],
  Resource: attribute(of, 'AWS::Logs::LogGroup'),
});

describe('the function', () => {
  it('ends within a minute and logs JSON to its own log group', () => {
    outside.hasResourceProperties('AWS::Lambda::Function', {
      Handler: 'index.handler',
      Runtime: 'nodejs24.x',
      Architectures: ['arm64'],
      MemorySize: 512,
      Timeout: 55,
      LoggingConfig: { LogFormat: 'JSON', LogGroup: Match.anyValue() },
      Environment: {
        Variables: {
          AUTOSCALER_CLUSTER: 'builds',
          POWERTOOLS_SERVICE_NAME: 'Test',
          POWERTOOLS_METRICS_NAMESPACE: 'CoderProvisionerAutoscaler',
          NODE_OPTIONS: '--enable-source-maps',
        },
      },
    });
  });

  it('has no VPC, reserved concurrency, tracing or key by default', () => {
    outside.hasResourceProperties('AWS::Lambda::Function', {
      VpcConfig: Match.absent(),
      ReservedConcurrentExecutions: Match.absent(),
      TracingConfig: Match.absent(),
      KmsKeyArn: Match.absent(),
    });
    outside.resourceCountIs('AWS::EC2::SecurityGroup', 0);
  });

  it('has VPC, reserved concurrency, tracing and key if they are configured', () => {
    everything.hasResourceProperties('AWS::Lambda::Function', {
      VpcConfig: { SubnetIds: ['subnet-0123456789abcdef0'], SecurityGroupIds: [Match.anyValue()] },
      ReservedConcurrentExecutions: 2,
      TracingConfig: { Mode: 'Active' },
      KmsKeyArn: attribute(everything, 'AWS::KMS::Key'),
    });
  });

  it('may loop through its queue where Lambda detects loops, and sets nothing elsewhere', () => {
    const [[id = '', condition] = []] = Object.entries(outside.toJSON().Conditions);
    outside.hasResourceProperties('AWS::Lambda::Function', {
      RecursiveLoop: { 'Fn::If': [id, 'Allow', { Ref: 'AWS::NoValue' }] },
    });
    const isNot = (value: string) => ({ 'Fn::Not': [{ 'Fn::Equals': [region, value] }] });
    expect(condition).toEqual({
      'Fn::And': [
        { 'Fn::Equals': [{ Ref: 'AWS::Partition' }, 'aws'] },
        isNot('mx-central-1'),
        isNot('ap-southeast-6'),
      ],
    });
  });

  it('does not retry a failed or late invocation', () => {
    outside.hasResourceProperties('AWS::Lambda::EventInvokeConfig', {
      MaximumRetryAttempts: 0,
      MaximumEventAgeInSeconds: 60,
      DestinationConfig: Match.absent(),
    });
  });

  it('has exactly the permissions that a look needs', () => {
    expect(permissions(outside, 'lambda')).toEqual([
      ...ofALook,
      logs(outside),
      record(outside),
      messages(outside),
    ]);
  });

  it('keeps its record of builds in one parameter of its own', () => {
    const [id] = Object.keys(outside.findResources('AWS::SSM::Parameter'));
    outside.hasResource('AWS::SSM::Parameter', {
      Properties: {
        Name: '/coder-provisioner-autoscaler/Test/record',
        Type: 'String',
        Tier: 'Advanced',
        Value: 'none',
      },
      // it goes with the stack
      DeletionPolicy: Match.absent(),
    });
    outside.hasResourceProperties('AWS::Lambda::Function', {
      Environment: { Variables: { AUTOSCALER_RECORD: { Ref: id } } },
    });
  });

  it('has permissions for decryption, traces and network interfaces with a key, tracing and a VPC', () => {
    const interfaces = {
      Action: [
        'ec2:AssignPrivateIpAddresses',
        'ec2:CreateNetworkInterface',
        'ec2:DeleteNetworkInterface',
        'ec2:DescribeNetworkInterfaces',
        'ec2:DescribeSubnets',
        'ec2:UnassignPrivateIpAddresses',
      ],
      Resource: '*',
    };
    expect(permissions(everything, 'lambda')).toEqual([
      ...ofALook,
      logs(everything),
      {
        Effect: 'Allow',
        Action: ['kms:Decrypt', 'kms:GenerateDataKey'],
        Resource: attribute(everything, 'AWS::KMS::Key'),
      },
      {
        Effect: 'Allow',
        Action: [...interfaces.Action, 'xray:PutTelemetryRecords', 'xray:PutTraceSegments'],
        Resource: '*',
      },
      { Effect: 'Deny', ...interfaces, Condition: { Null: { 'lambda:SourceFunctionArn': 'false' } } },
      record(everything),
      messages(everything),
    ]);
  });

  it('has no AWS managed policy', () => {
    everything.allResourcesProperties('AWS::IAM::Role', { ManagedPolicyArns: Match.absent() });
  });
});

describe('the schedule', () => {
  it('invokes the function once a minute, without delay and without retries', () => {
    outside.resourceCountIs('AWS::Scheduler::Schedule', 1);
    outside.hasResourceProperties('AWS::Scheduler::Schedule', {
      ScheduleExpression: 'rate(1 minute)',
      FlexibleTimeWindow: { Mode: 'OFF' },
      State: 'ENABLED',
      KmsKeyArn: Match.absent(),
      Target: Match.objectLike({
        Arn: attribute(outside, 'AWS::Lambda::Function'),
        Input: '{"tick":true}',
        RetryPolicy: { MaximumRetryAttempts: 0, MaximumEventAgeInSeconds: 60 },
        DeadLetterConfig: { Arn: queueArn(outside, 14 * 86_400) },
      }),
    });
  });

  it('can invoke exactly this function and write to its queue, from its own group only', () => {
    expect(permissions(outside, 'scheduler')).toEqual([
      {
        Effect: 'Allow',
        Action: 'lambda:InvokeFunction',
        Resource: attribute(outside, 'AWS::Lambda::Function'),
      },
      { Effect: 'Allow', Action: 'sqs:SendMessage', Resource: queueArn(outside, 14 * 86_400) },
    ]);
    outside.hasResourceProperties('AWS::IAM::Role', {
      AssumeRolePolicyDocument: {
        Statement: [
          {
            Effect: 'Allow',
            Action: 'sts:AssumeRole',
            Principal: { Service: 'scheduler.amazonaws.com' },
            Condition: {
              StringEqualsIfExists: { 'aws:SourceAccount': { Ref: 'AWS::AccountId' } },
              ArnEquals: { 'aws:SourceArn': attribute(outside, 'AWS::Scheduler::ScheduleGroup') },
            },
          },
        ],
      },
    });
    outside.resourceCountIs('AWS::Lambda::Permission', 0);
  });

  it('is encrypted with the given key, and can use it', () => {
    const key = attribute(everything, 'AWS::KMS::Key');
    everything.hasResourceProperties('AWS::Scheduler::Schedule', { KmsKeyArn: key });
    expect(permissions(everything, 'scheduler')).toContainEqual({
      Effect: 'Allow',
      Action: ['kms:Decrypt', 'kms:GenerateDataKey'],
      Resource: key,
    });
  });
});

describe.each([
  { name: 'of undelivered invocations', retentionS: 14 * 86_400 },
  // it forgets a message before the message becomes visible a second time
  { name: 'of the next looks', retentionS: 60, times: { VisibilityTimeout: 60 } },
])('the queue $name', ({ retentionS, times }) => {
  const own = { MessageRetentionPeriod: retentionS, ...times };

  it('is encrypted, with the given key if there is one, and keeps messages for its time', () => {
    outside.hasResourceProperties('AWS::SQS::Queue', { ...own, SqsManagedSseEnabled: true });
    const key = attribute(everything, 'AWS::KMS::Key');
    everything.hasResourceProperties('AWS::SQS::Queue', { ...own, KmsMasterKeyId: key });
  });

  it('requires TLS', () => {
    const statement = Match.objectLike({
      Effect: 'Deny',
      Condition: { Bool: { 'aws:SecureTransport': 'false' } },
      Resource: queueArn(outside, retentionS),
    });
    const document = Match.objectLike({ Statement: Match.arrayWith([statement]) });
    outside.resourcePropertiesCountIs('AWS::SQS::QueuePolicy', { PolicyDocument: document }, 1);
  });
});

describe('the queue of the next looks', () => {
  it('invokes the function with one message at a time, and at most twice at once', () => {
    outside.resourceCountIs('AWS::Lambda::EventSourceMapping', 1);
    outside.hasResourceProperties('AWS::Lambda::EventSourceMapping', {
      EventSourceArn: queueArn(outside, 60),
      FunctionName: Match.objectLike({ Ref: Match.stringLikeRegexp('^AutoscalerFunction') }),
      BatchSize: 1,
      ScalingConfig: { MaximumConcurrency: 2 },
    });
  });

  it('is known to the function by its URL', () => {
    outside.hasResourceProperties('AWS::Lambda::Function', {
      Environment: {
        Variables: Match.objectLike({
          AUTOSCALER_QUEUE_URL: { Ref: Match.stringLikeRegexp('^AutoscalerLooksQueue') },
        }),
      },
    });
  });
});

describe('the topic of the alarms', () => {
  it('accepts only alarms of this account over TLS and mails them', () => {
    outside.hasResourceProperties('AWS::SNS::TopicPolicy', {
      PolicyDocument: {
        Statement: [
          Match.objectLike({ Effect: 'Deny', Condition: { Bool: { 'aws:SecureTransport': 'false' } } }),
          Match.objectLike({
            Effect: 'Allow',
            Action: 'sns:Publish',
            Principal: { Service: 'cloudwatch.amazonaws.com' },
            Condition: { StringEquals: { 'aws:SourceAccount': account } },
          }),
        ],
      },
    });
    outside.hasResourceProperties('AWS::SNS::Subscription', {
      Protocol: 'email',
      Endpoint: 'night@example.com',
    });
  });

  it('is encrypted with the given key, which alarms and logs can use', () => {
    everything.hasResourceProperties('AWS::SNS::Topic', {
      KmsMasterKeyId: attribute(everything, 'AWS::KMS::Key'),
    });
    for (const service of [
      'cloudwatch.amazonaws.com',
      { 'Fn::Join': ['', ['logs.', region, '.amazonaws.com']] },
    ])
      everything.hasResourceProperties('AWS::KMS::Key', {
        KeyPolicy: {
          Statement: Match.arrayWith([
            Match.objectLike({
              Effect: 'Allow',
              Principal: { Service: service },
              Condition: Match.anyValue(),
            }),
          ]),
        },
      });
  });
});
