//! Starting and ending.

use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::process::Stdio;
use std::time::Duration;

use equiform_proto::goplugin::grpc_stdio_client::GrpcStdioClient;
use equiform_proto::tfplugin6::get_provider_schema;

use crate::support::*;

#[test]
fn without_the_right_cookie_a_person_is_told_what_this_is() {
    for cookie in [None, Some(""), Some("d602")] {
        let (code, stdout, stderr) = failed_start(|command| {
            command.env_remove("TF_PLUGIN_MAGIC_COOKIE");
            if let Some(cookie) = cookie {
                command.env("TF_PLUGIN_MAGIC_COOKIE", cookie);
            }
        });
        assert_eq!((code, stdout.as_str()), (Some(1), ""), "{cookie:?}");
        assert!(stderr.starts_with("This is a plugin"), "{stderr}");
        assert!(stderr.contains("drift") && stderr.contains("reattach"), "{stderr}");
    }
}

#[test]
fn an_engine_without_a_common_protocol_is_told_which_one_to_use() {
    for versions in ["4", "", "60", "six"] {
        let (code, stdout, stderr) = failed_start(|command| {
            command.env("PLUGIN_PROTOCOL_VERSIONS", versions);
        });
        assert_eq!((code, stdout.as_str()), (Some(1), ""), "{versions}");
        assert!(stderr.contains("version 6") && stderr.contains("Terraform 0.12"), "{stderr}");
    }
}

#[test]
fn protocol_6_is_found_wherever_it_stands_and_5_is_taken_if_it_is_asked_for_or_alone() {
    let offers = [
        ("6", "", "6"),
        ("6,5", "", "6"),
        ("5, 6", "", "6"),
        ("5", "", "5"),
        ("4,5", "6", "5"),
        ("5,6", "5", "5"),
        ("6", "5", "6"),
    ];
    for (versions, wish, chosen) in offers {
        let plugin = Plugin::start_with(|command| {
            command.env("PLUGIN_PROTOCOL_VERSIONS", versions).env("EQUIFORM_PROTOCOL", wish);
        });
        assert_eq!(plugin.fields()[1], chosen, "{versions:?}, {wish:?}");
    }
}

#[test]
fn a_wish_for_another_protocol_ends_the_start() {
    let (code, stdout, stderr) = failed_start(|command| {
        command.env("EQUIFORM_PROTOCOL", "7");
    });
    assert_eq!((code, stdout.as_str()), (Some(1), ""));
    assert!(stderr.contains("EQUIFORM_PROTOCOL") && stderr.contains("5 and 6"), "{stderr}");
}

#[test]
fn a_client_certificate_that_is_none_ends_the_start() {
    let (code, stdout, stderr) = failed_start(|command| {
        command.env("PLUGIN_CLIENT_CERT", "nonsense");
    });
    assert_eq!((code, stdout.as_str()), (Some(1), ""));
    assert!(stderr.contains("PLUGIN_CLIENT_CERT"), "{stderr}");
}

#[test]
fn the_handshake_is_one_line_and_nothing_follows() {
    let mut plugin = Plugin::start();
    let fields = plugin.fields();
    let socket = plugin.socket();
    assert_eq!(fields, ["1", "6", "unix", socket.to_str().unwrap(), "grpc", ""]);
    assert!(plugin.line.ends_with('\n'));
    let (status, _) = run(plugin.shut_down());
    assert!(status.success());
    let mut rest = String::new();
    plugin.stdout.read_to_string(&mut rest).unwrap();
    assert_eq!(rest, "");
}

#[test]
fn every_line_of_the_log_is_json_that_engines_read() {
    let mut plugin = Plugin::start_with(|command| {
        command.env("TF_LOG", "debug");
    });
    run(plugin.shut_down());
    let stderr = plugin.stderr();
    assert!(!stderr.is_empty());
    for line in stderr.lines() {
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        for field in ["@level", "@message", "@timestamp"] {
            assert!(line[field].is_string(), "{line}");
        }
    }
}

#[test]
fn the_socket_is_in_a_private_folder_that_is_gone_at_the_end() {
    let mut plugin = Plugin::start();
    let folder = plugin.socket().parent().unwrap().to_owned();
    assert_eq!(folder.metadata().unwrap().permissions().mode() & 0o777, 0o700);
    run(plugin.shut_down());
    assert!(!folder.exists());
    assert_eq!(names_in(&plugin.folder), Vec::<String>::new());
}

#[test]
fn an_interrupt_is_ignored() {
    let plugin = Plugin::start();
    run(async {
        let mut engine = plugin.engine().await;
        for _ in 0..3 {
            signal(plugin.child.id(), libc::SIGINT);
            engine.create("a").await;
        }
    });
    assert!(is_alive(plugin.child.id()));
}

#[test]
fn sigterm_ends_the_provider_and_cleans_up() {
    let mut plugin = Plugin::start();
    signal(plugin.child.id(), libc::SIGTERM);
    assert!(plugin.child.wait().unwrap().success());
    assert_eq!(names_in(&plugin.folder), Vec::<String>::new());
}

#[test]
fn shutdown_ends_the_process_at_once_although_streams_are_open() {
    let mut plugin = Plugin::start();
    let (status, took) = run(async {
        let channel = plugin.channel().await;
        let mut stream = GrpcStdioClient::new(channel.clone()).stream_stdio(()).await.unwrap().into_inner();
        let mut engine = Engine::new(channel);
        engine.provider.get_provider_schema(get_provider_schema::Request {}).await.unwrap();
        let quiet = tokio::time::timeout(Duration::from_millis(100), stream.message()).await;
        assert!(quiet.is_err(), "the stream says nothing and stays open");
        let ended = plugin.shut_down().await;
        drop(stream);
        ended
    });
    assert!(status.success());
    assert!(took < Duration::from_millis(500), "{took:?}");
}

#[test]
fn the_provider_ends_with_the_engine_that_is_killed() {
    let folder = tempfile::tempdir().unwrap();
    let provider = command(folder.path());
    let mut parent = std::process::Command::new("sh");
    parent.args(["-c", "\"$0\" & echo $!; wait"]).arg(provider.get_program());
    for (name, value) in provider.get_envs() {
        parent.env(name, value.unwrap());
    }
    let mut parent =
        parent.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut lines = std::io::BufRead::lines(std::io::BufReader::new(parent.stdout.take().unwrap()));
    let (mut pid, mut socket) = (None, None);
    while pid.is_none() || socket.is_none() {
        let line = lines.next().unwrap().unwrap();
        match line.split('|').nth(3) {
            Some(path) => socket = Some(std::path::PathBuf::from(path)),
            None => pid = Some(line.parse::<u32>().unwrap()),
        }
    }
    let (pid, socket) = (pid.unwrap(), socket.unwrap());
    // Also while a connection is open.
    let _stream = std::os::unix::net::UnixStream::connect(&socket).unwrap();
    assert!(is_alive(pid));
    parent.kill().unwrap();
    parent.wait().unwrap();
    eventually("the provider has ended", || !is_alive(pid));
    assert!(!socket.parent().unwrap().exists());
}
