import { Stack } from 'aws-cdk-lib';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { ParameterTier, StringParameter } from 'aws-cdk-lib/aws-ssm';
import { Construct } from 'constructs';

/**
 * The parameter in which the function keeps its record of builds. CloudFormation writes the first
 * value only. A deployment that writes it again does no harm: the record is a cache.
 */
export class BuildRecord extends Construct {
  readonly #parameter: StringParameter;

  constructor(scope: Construct, id: string) {
    super(scope, id);
    this.#parameter = new StringParameter(this, 'Parameter', {
      // Names cannot begin with "aws", but the name of a stack can.
      parameterName: `/coder-provisioner-autoscaler/${Stack.of(this).stackName}/record`,
      simpleName: false,
      description:
        'When builds came in the last days and how long they took. The autoscaler writes it. It may be deleted',
      tier: ParameterTier.ADVANCED,
      // a value cannot be empty
      stringValue: 'none',
    });
  }

  get environment(): Readonly<Record<string, string>> {
    return { AUTOSCALER_RECORD: this.#parameter.parameterName };
  }

  /** Allows reading and writing exactly this parameter. */
  get statement(): PolicyStatement {
    const actions = ['ssm:GetParameters', 'ssm:PutParameter'];
    return new PolicyStatement({ actions, resources: [this.#parameter.parameterArn] });
  }
}
