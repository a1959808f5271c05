//! What the name of an attribute says of it, where a schema does not: a schema as engines print it does not tell what
//! forces a replacement, and what a provider computes anew.

use crate::schema::{Attribute, Block, OnChange, Rule, Shape};
use crate::value::Type;

/// Attributes whose change replaces the object in most types of most providers: they name it, or say where it is.
const REPLACING: [&str; 22] = [
    "availability_zone",
    "bucket",
    "cidr_block",
    "cluster_identifier",
    "db_name",
    "engine",
    "filename",
    "identifier",
    "keepers",
    "location",
    "name",
    "name_prefix",
    "namespace",
    "network",
    "project",
    "region",
    "resource_group_name",
    "subnet_id",
    "subnetwork",
    "triggers",
    "vpc_id",
    "zone",
];

/// Attributes that a provider computes anew with every change.
const CHANGING: [&str; 12] = [
    "etag",
    "fingerprint",
    "last_modified",
    "last_updated",
    "latest_version",
    "metageneration",
    "modified_at",
    "revision",
    "update_time",
    "updated_at",
    "updated_time",
    "version_id",
];

/// Completes a block of a resource by the names of its attributes.
pub fn complete(block: &mut Block) {
    let has_tags = block.attribute("tags").is_some_and(|tags| !tags.origin.is_computed());
    for attribute in &mut block.attributes {
        let computed = attribute.origin.is_computed();
        let name = attribute.name.as_str();
        if name == "id" && computed && attribute.shape == Shape::Plain(Type::String) {
            attribute.rule = Rule::Id;
        } else if name == "tags_all" && computed && has_tags {
            attribute.rule = Rule::CopyOf("tags".to_owned());
        } else if computed && CHANGING.contains(&name) {
            attribute.rule = Rule::EachChange;
        }
        if is_given(attribute) && REPLACING.contains(&attribute.name.as_str()) {
            attribute.on_change = OnChange::Replace;
        }
    }
}

fn is_given(attribute: &Attribute) -> bool {
    attribute.origin != crate::schema::Origin::Computed && !attribute.write_only
}

/// What ids of a type begin with: the last word of its name, or what a well-known cloud calls it.
pub fn id_prefix(type_name: &str) -> String {
    let known = match type_name {
        "aws_instance" => "i",
        "aws_security_group" => "sg",
        "aws_security_group_rule"
        | "aws_vpc_security_group_ingress_rule"
        | "aws_vpc_security_group_egress_rule" => "sgr",
        "aws_ebs_volume" => "vol",
        "aws_internet_gateway" => "igw",
        "aws_nat_gateway" => "nat",
        "aws_route_table" => "rtb",
        "aws_route_table_association" => "rtbassoc",
        "aws_network_interface" => "eni",
        "aws_network_acl" => "acl",
        "aws_eip" => "eipalloc",
        "aws_ami" => "ami",
        "aws_launch_template" => "lt",
        "aws_vpc_endpoint" => "vpce",
        "aws_ec2_transit_gateway" => "tgw",
        "aws_efs_file_system" => "fs",
        _ => type_name.rsplit('_').next().unwrap_or(type_name),
    };
    known.to_owned()
}
