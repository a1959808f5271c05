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

#[test]
fn a_message_of_nulls_takes_memory_in_proportion_to_its_length() {
    const NULLS: u32 = 64 << 20;
    let plugin = Plugin::start();
    run(async {
        let mut engine = plugin.engine().await;
        let mut msgpack = b"\x87\xa4refs\xdd".to_vec();
        msgpack.extend_from_slice(&NULLS.to_be_bytes());
        msgpack.resize(msgpack.len() + NULLS as usize, 0xc0);
        let answer = engine.plan(None, DynamicValue { msgpack, json: Vec::new() }).await;
        assert_eq!(answer.diagnostics.len(), 1);
        let detail = &answer.diagnostics[0].detail;
        assert!(detail.contains("too many parts: they would take more than 320 MiB"), "{detail}");
        // The message is there several times on its way in, twice in the request.
        let peak = plugin.account("status", "VmHWM") / 1024;
        assert!(peak < 1200, "{peak} MiB");
        engine.create("a").await;
    });
}
