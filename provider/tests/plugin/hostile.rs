//! Messages that claim more than they hold.

use equiform_proto::tfplugin6::DynamicValue;

use crate::support::*;

#[test]
fn a_length_that_is_only_claimed_takes_no_memory() {
    let plugin = Plugin::start();
    run(async {
        let mut engine = plugin.engine().await;
        engine.plan(None, node("a", None)).await;
        let before = plugin.account("status", "VmPeak");
        for marker in [0xc6, 0xc9, 0xdb, 0xdd, 0xdf] {
            for claimed in [0x7fff_ffff_u32, 0xffff_ffff] {
                // As the object itself, as an attribute, and as an attribute's element.
                for prefix in
                    [&b""[..], b"\x87\xa4refs", b"\x87\xa4refs\x91", b"\x87\xa3key", b"\x87\xa8revision"]
                {
                    let mut msgpack = prefix.to_vec();
                    msgpack.push(marker);
                    msgpack.extend_from_slice(&claimed.to_be_bytes());
                    let answer = engine.plan(None, DynamicValue { msgpack, json: Vec::new() }).await;
                    assert_eq!(answer.diagnostics.len(), 1, "{marker:x} {prefix:?}");
                }
            }
        }
        let grown = plugin.account("status", "VmPeak") - before;
        assert!(grown < 16 * 1024, "{grown} KiB more");
    });
}
