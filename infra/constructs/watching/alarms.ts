import { Stack } from 'aws-cdk-lib';
import { Alarm } from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import { PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import { type ITopic, Topic } from 'aws-cdk-lib/aws-sns';
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions';
import { Construct } from 'constructs';
import type { AwsSettings, DeployedPool } from '../../../lambda/config/rules/deployment.ts';
import type { AutoscalerFunction } from '../function/autoscaler-function.ts';
import { acknowledge } from '../shared/nag.ts';
import { type AlarmRow, alarmRows } from './alarm-rows.ts';

export type AlarmsProps = {
  readonly autoscaler: AutoscalerFunction;
  readonly pools: readonly DeployedPool[];
  /** The function that manages keys, if a pool has a managed key. */
  readonly keyFunction?: IFunction | undefined;
  readonly settings: AwsSettings['alarms'];
  /** Gets every alarm. @default the topic that the settings name, else a new one */
  readonly topic?: ITopic;
  /** Encrypts a new topic. @default no KMS key */
  readonly kmsKey?: IKey;
};

/** The alarms of a deployment. Each notifies the topic when it goes off and when it is over. */
export class Alarms extends Construct {
  readonly topic: ITopic;
  readonly alarms: readonly Alarm[];

  constructor(scope: Construct, id: string, props: AlarmsProps) {
    super(scope, id);
    this.topic = props.topic ?? topicOf(this, props);
    const action = new SnsAction(this.topic);
    this.alarms = alarmRows(props.autoscaler, props.pools, props.keyFunction).map((row) =>
      addAlarm(this, row, action),
    );
  }
}

function addAlarm(scope: Construct, row: AlarmRow, action: SnsAction): Alarm {
  const { name, periods, urgency, description, ...props } = row;
  const alarm = new Alarm(scope, name, {
    ...props,
    alarmName: `${Stack.of(scope).stackName}-${name}`,
    alarmDescription: `${urgency}: ${description} More: docs/operate.md, "${name}".`,
    evaluationPeriods: periods.of,
    datapointsToAlarm: periods.wrong,
  });
  alarm.addAlarmAction(action);
  alarm.addOkAction(action);
  return alarm;
}

function topicOf(scope: Construct, { settings, kmsKey }: AlarmsProps): ITopic {
  if (settings.topic !== undefined) return Topic.fromTopicArn(scope, 'Topic', settings.topic);
  return addTopic(new Construct(scope, 'Topic'), settings.emails, kmsKey);
}

/**
 * An SNS topic that only alarms of this account may publish to, and only over TLS. Each recipient
 * has to confirm a mail from SNS.
 */
function addTopic(scope: Construct, emails: readonly string[], masterKey: IKey | undefined): Topic {
  const topic = new Topic(scope, 'Topic', { enforceSSL: true, masterKey });
  // The policy that enforces TLS replaces the default policy, which lets alarms publish.
  topic.addToResourcePolicy(
    new PolicyStatement({
      actions: ['sns:Publish'],
      principals: [new ServicePrincipal('cloudwatch.amazonaws.com')],
      resources: [topic.topicArn],
      conditions: { StringEquals: { 'aws:SourceAccount': Stack.of(scope).account } },
    }),
  );
  for (const email of emails) topic.addSubscription(new EmailSubscription(email));
  acknowledge(topic, {
    id: 'Serverless-SNSRedrivePolicy',
    reason:
      'The subscribers are mailboxes. An undelivered mail loses no work: CloudWatch keeps the state of each alarm',
  });
  return topic;
}
