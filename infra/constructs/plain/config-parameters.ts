import { Aws } from 'aws-cdk-lib';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { ParameterTier, StringParameter } from 'aws-cdk-lib/aws-ssm';
import { Construct } from 'constructs';
import { PART_LENGTH } from '../../../lambda/config/rules/stored-text.ts';
import type { StoredConfig } from '../../../lambda/config/stored-config.ts';
import { PlainTemplateError } from '../shared/errors.ts';

/** The names must fit in the environment of the function, which has at most 4 KB. */
const MOST_PARTS = 16;

/**
 * The configuration of a plain template, in parameters of Systems Manager. Their names stay the
 * same, so CloudFormation updates them in place.
 */
export class ConfigParameters extends Construct {
  readonly #parts: readonly StringParameter[];
  readonly #sha256: string;

  /** Throws PlainTemplateError for a configuration that is too long. */
  constructor(scope: Construct, id: string, { text, sha256 }: StoredConfig) {
    super(scope, id);
    this.#sha256 = sha256;
    this.#parts = split(text).map((part, index) => this.#addPart(part, index + 1));
  }

  #addPart(stringValue: string, number: number): StringParameter {
    return new StringParameter(this, `Part${number}`, {
      // Names cannot begin with "aws", but the name of a stack can.
      parameterName: `/coder-provisioner-autoscaler/${Aws.STACK_NAME}/config-${number}`,
      simpleName: false,
      description: 'Configuration of the autoscaler. The stack writes it: change it there, not here',
      tier: ParameterTier.STANDARD,
      stringValue,
    });
  }

  /** The variables that tell the function which configuration to read. */
  get environment(): Readonly<Record<string, string>> {
    return {
      AUTOSCALER_CONFIG_PARAMETERS: this.#parts.map(({ parameterName }) => parameterName).join(','),
      AUTOSCALER_CONFIG_SHA256: this.#sha256,
    };
  }

  /** Allows reading exactly these parameters. */
  get statement(): PolicyStatement {
    const arns = this.#parts.map(({ parameterArn }) => parameterArn);
    return new PolicyStatement({ actions: ['ssm:GetParameters'], resources: arns });
  }
}

function split(text: string): readonly string[] {
  const parts = text.match(new RegExp(`.{1,${PART_LENGTH}}`, 'gs')) ?? [];
  if (parts.length > MOST_PARTS)
    throw new PlainTemplateError(
      `storing the configuration: it has ${text.length} characters, and a plain template can store ${PART_LENGTH * MOST_PARTS}; divide the pools among several stacks, or deploy with cdk`,
    );
  return parts;
}
