# The stack that `autoscaler synth` writes, with a bucket for the code of its functions: docs/terraform.md.

terraform {
  required_version = ">= 1.3"
  required_providers {
    aws = {
      source  = "hashicorp/aws"
      version = ">= 4.9"
    }
  }
}

variable "template" {
  description = "The folder that autoscaler synth has written."
  type        = string
  default     = "autoscaler-template"
}

variable "stack" {
  description = "The name of the stack: aws.stack in autoscaler.yaml."
  type        = string
  default     = "CoderProvisionerAutoscaler"
}

variable "tags" {
  description = "Tags of the bucket, of the stack, and of all in it that can have tags. aws.tags are further ones."
  type        = map(string)
  default     = {}
}

variable "kms_key" {
  description = "ARN of the KMS key that encrypts the bucket. aws.kmsKey in autoscaler.yaml has to name it too, for all else."
  type        = string
  default     = null
}

variable "permissions_boundary" {
  description = "ARN of the permissions boundary of all roles, unless aws.permissionsBoundary names one."
  type        = string
  default     = ""
}

variable "cloudformation_role" {
  description = "ARN of a role with which CloudFormation makes the stack. By default it does so with your own rights."
  type        = string
  default     = null
}

resource "aws_s3_bucket" "assets" {
  bucket_prefix = "coder-autoscaler-"
  tags          = var.tags
}

resource "aws_s3_bucket_server_side_encryption_configuration" "assets" {
  count  = var.kms_key == null ? 0 : 1
  bucket = aws_s3_bucket.assets.id

  rule {
    bucket_key_enabled = true
    apply_server_side_encryption_by_default {
      sse_algorithm     = "aws:kms"
      kms_master_key_id = var.kms_key
    }
  }
}

resource "aws_s3_object" "assets" {
  for_each = fileset("${var.template}/assets", "*")
  bucket   = aws_s3_bucket.assets.id
  key      = each.key
  source   = "${var.template}/assets/${each.key}"

  # A failed update needs the earlier code. So Terraform deletes that after the update of the stack.
  lifecycle {
    create_before_destroy = true
  }
}

resource "aws_s3_object" "template" {
  bucket = aws_s3_bucket.assets.id
  # A changed template has a new key. So Terraform sees the change and updates the stack.
  key    = "template-${filesha256("${var.template}/template.json")}.json"
  source = "${var.template}/template.json"

  lifecycle {
    create_before_destroy = true
  }
}

resource "aws_cloudformation_stack" "autoscaler" {
  name = var.stack
  # too long for template_body
  template_url = "https://${aws_s3_bucket.assets.bucket_regional_domain_name}/${aws_s3_object.template.key}"
  capabilities = ["CAPABILITY_IAM"]
  iam_role_arn = var.cloudformation_role
  tags         = var.tags
  parameters = {
    AssetBucket         = aws_s3_bucket.assets.id
    PermissionsBoundary = var.permissions_boundary
    # After a failed update Terraform's state has the new template_url. Only this parameter, which CloudFormation
    # rolls back, shows the next apply that the stack is still the old one.
    TemplateHash = filesha256("${var.template}/template.json")
  }
  depends_on = [aws_s3_object.assets, aws_s3_bucket_server_side_encryption_configuration.assets]

  lifecycle {
    precondition {
      condition     = var.kms_key == null ? true : length(split(var.kms_key, file("${var.template}/template.json"))) > 1
      error_message = "The template does not use kms_key. Write it as aws.kmsKey in autoscaler.yaml, and run autoscaler synth."
    }
  }

  # A new image or size replaces tasks only after their builds have ended.
  timeouts {
    create = "60m"
    update = "4h"
    delete = "60m"
  }
}

locals {
  outputs = aws_cloudformation_stack.autoscaler.outputs
}

output "bucket" {
  description = "The bucket with the template and the code."
  value       = aws_s3_bucket.assets.id
}

output "cluster" {
  description = "The name of the ECS cluster."
  value       = local.outputs["ClusterName"]
}

output "security_groups" {
  description = "Ids of the security groups of the tasks and the function. coderd has to be open to them."
  value       = split(",", local.outputs["SecurityGroupIds"])
}

output "topic" {
  description = "ARN of the SNS topic that gets every alarm; null without alarms."
  value       = lookup(local.outputs, "TopicArn", null)
}

output "function" {
  description = "The name of the function that scales the pools."
  value       = local.outputs["FunctionName"]
}

output "log_group" {
  description = "The log group of that function."
  value       = local.outputs["LogGroupName"]
}

output "task_roles" {
  description = "By pool: ARN of the role of Terraform in its builds. Attach no policy to a role that the stack makes: name it in taskRole.policies."
  value = {
    for name, arn in local.outputs : replace(trimprefix(name, "TaskRole"), "H", "-") => arn
    if startswith(name, "TaskRole")
  }
}
