import { Stack } from 'aws-cdk-lib';
import { PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import { Topic } from 'aws-cdk-lib/aws-sns';
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions';
import { Construct } from 'constructs';
import { acknowledge } from '../shared/acknowledge.ts';

export type AlarmTopicProps = {
  /** Each recipient has to confirm a mail from SNS. */
  readonly emails: readonly string[];
  readonly kmsKey?: IKey | undefined;
};

/** An SNS topic that only alarms of this account may publish to, and only over TLS. */
export class AlarmTopic extends Construct {
  readonly topic: Topic;

  constructor(scope: Construct, id: string, { emails, kmsKey }: AlarmTopicProps) {
    super(scope, id);
    this.topic = new Topic(this, 'Topic', { enforceSSL: true, masterKey: kmsKey });
    // The policy that enforces TLS replaces the default policy, which lets alarms publish.
    this.topic.addToResourcePolicy(
      new PolicyStatement({
        actions: ['sns:Publish'],
        principals: [new ServicePrincipal('cloudwatch.amazonaws.com')],
        resources: [this.topic.topicArn],
        conditions: { StringEquals: { 'aws:SourceAccount': Stack.of(this).account } },
      }),
    );
    for (const email of emails) this.topic.addSubscription(new EmailSubscription(email));
    acknowledge(this.topic, {
      id: 'Serverless-SNSRedrivePolicy',
      reason:
        'The subscribers are mailboxes. An undelivered mail loses no work: CloudWatch keeps the state of each alarm',
    });
  }
}
