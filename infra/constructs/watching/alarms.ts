import { Stack } from 'aws-cdk-lib';
import { Alarm } from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import { type ITopic, Topic } from 'aws-cdk-lib/aws-sns';
import { Construct } from 'constructs';
import type { AwsSettings, DeployedPool } from '../../../lambda/config/rules/deployment.ts';
import type { AutoscalerFunction } from '../function/autoscaler-function.ts';
import { type AlarmRow, alarmRows } from './alarm-rows.ts';
import { AlarmTopic } from './alarm-topic.ts';

export type AlarmsProps = {
  readonly autoscaler: AutoscalerFunction;
  readonly pools: readonly DeployedPool[];
  readonly settings: AwsSettings['alarms'];
  /** Told of every alarm. @default the one that the settings name, or one of its own */
  readonly topic?: ITopic;
  /** Encrypts a topic of its own. @default not encrypted at rest by a key of yours */
  readonly kmsKey?: IKey;
};

/** Tells a topic when something is wrong and when it is right again; each alarm says what to do first. */
export class Alarms extends Construct {
  readonly topic: ITopic;
  readonly alarms: readonly Alarm[];

  constructor(scope: Construct, id: string, props: AlarmsProps) {
    super(scope, id);
    this.topic = props.topic ?? this.#topicOf(props);
    const action = new SnsAction(this.topic);
    this.alarms = alarmRows(props.autoscaler, props.pools).map((row) => this.#alarm(row, action));
  }

  #topicOf({ settings, kmsKey }: AlarmsProps): ITopic {
    return settings.topic === undefined
      ? new AlarmTopic(this, 'Topic', { emails: settings.emails, kmsKey }).topic
      : Topic.fromTopicArn(this, 'Topic', settings.topic);
  }

  #alarm({ name, periods, tells, ...row }: AlarmRow, action: SnsAction): Alarm {
    const alarm = new Alarm(this, name, {
      ...row,
      alarmName: `${Stack.of(this).stackName}-${name}`,
      alarmDescription: `${tells} More: docs/runbook.md, "${name}".`,
      evaluationPeriods: periods.of,
      datapointsToAlarm: periods.wrong,
    });
    alarm.addAlarmAction(action);
    alarm.addOkAction(action);
    return alarm;
  }
}
