import { Stack } from 'aws-cdk-lib';
import { Alarm } from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import { type ITopic, Topic } from 'aws-cdk-lib/aws-sns';
import { Construct } from 'constructs';
import type { AwsSettings, DeployedPool } from '../../../lambda/config/rules/deployment.ts';
import type { AutoscalerFunction } from '../function/autoscaler-function.ts';
import { type AlarmRow, alarmRows } from './alarm-rows.ts';
import { AlarmTopic } from './alarm-topic.ts';

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
    this.topic = props.topic ?? this.#topicOf(props);
    const action = new SnsAction(this.topic);
    this.alarms = alarmRows(props.autoscaler, props.pools, props.keyFunction).map((row) =>
      this.#alarm(row, action),
    );
  }

  #topicOf({ settings, kmsKey }: AlarmsProps): ITopic {
    return settings.topic === undefined
      ? new AlarmTopic(this, 'Topic', { emails: settings.emails, kmsKey }).topic
      : Topic.fromTopicArn(this, 'Topic', settings.topic);
  }

  #alarm({ name, periods, description, ...row }: AlarmRow, action: SnsAction): Alarm {
    const alarm = new Alarm(this, name, {
      ...row,
      alarmName: `${Stack.of(this).stackName}-${name}`,
      alarmDescription: `${description} More: docs/operate.md, "${name}".`,
      evaluationPeriods: periods.of,
      datapointsToAlarm: periods.wrong,
    });
    alarm.addAlarmAction(action);
    alarm.addOkAction(action);
    return alarm;
  }
}
