//! The hostile seeds, and each of them cut short anywhere: what the fuzzer starts from is also what every test run checks.

use crate::{debug_parse, framing, json_check, logic, rpc, shrink};

fn check(property: fn(&[u8])) {
    for seed in seeds() {
        property(&seed);
        for end in (0..seed.len()).step_by(1 + seed.len() / 64) {
            property(&seed[..end]);
        }
        for at in (0..seed.len()).step_by(1 + seed.len() / 32) {
            let mut bent = seed.clone();
            bent[at] ^= 0x55;
            property(&bent);
        }
    }
}

#[test]
fn json_check_holds() {
    check(json_check);
}

#[test]
fn framing_holds() {
    check(framing);
}

#[test]
fn debug_parse_holds() {
    check(debug_parse);
}

#[test]
fn logic_holds() {
    check(logic);
}

#[test]
fn rpc_holds() {
    check(rpc);
}

#[test]
fn shrink_holds() {
    check(shrink);
}

fn seeds() -> Vec<Vec<u8>> {
    let mut seeds: Vec<Vec<u8>> = SEEDS.iter().map(|seed| seed.to_vec()).collect();
    seeds.push([b"[".repeat(2_000), b"]".repeat(2_000)].concat());
    seeds.push([b"\x01\x10{\"a\":".repeat(600), b"1".to_vec(), b"}".repeat(600)].concat());
    let long =
        format!(r#"{{"nodeId":"a","kind":"tool","name":"a","instanceId":"i","input":"{}"}}"#, "é\\ud83d".repeat(900));
    seeds.push([b"\x01\x04", long.as_bytes()].concat());
    let many: String = (0..400).map(|at| format!("\"k{at}\":[{at}.50,1e{at}],")).collect();
    seeds.push(format!("\x02\x04{{{many}\"nodeId\":\"a\",\"status\":\"ok\",\"durationMs\":1}}").into_bytes());
    seeds
}

const SEEDS: [&[u8]; 32] = [
    b"",
    b"\x00\x00",
    b"null",
    b"-0",
    b"1e400",
    b"12345678901234567890123.4500",
    br#""\ud800""#,
    br#""\ud83d\ude00 \u0000 \/""#,
    b"\"\xff\xfe\"",
    b"\xef\xbb\xbf{}",
    b"{\"a\":1,\"a\":2,\"\\u0061\":3}",
    b"[1,]",
    b"{\"__proto__\":{\"toString\":1}}",
    b"\x00\x03{\"id\":1}\n\r\n\n{\"id\":\"1\"}\r\n\xff\x00\n{",
    b"\x02\xffevent: message\rdata: {\r\ndata: }\n\n: comment\n\ndata\n\n",
    b"\x00\xff\xef\xbb\xbfdata: x\r\r\ndata: y\n\n",
    br#"{"gm":1,"seq":0,"ts":0,"runId":"*","type":"hello","payload":{"versions":{"protocol":1,"client":"x"},"capabilities":[]}}"#,
    br#"{"gm":1,"seq":3,"ts":5,"runId":"r","type":"node.started","payload":{"nodeId":"a","kind":"tool","name":"a","instanceId":"i","x":[1.0]},"traceparent":"t"}"#,
    br#"{"gm":1,"seq":4,"ts":5,"runId":"r","type":"exec.paused","payload":{"pauseId":"p","nodeId":"a","point":"before"}}"#,
    br#"{"gm":2,"seq":0,"ts":0,"runId":"r","type":"x"}"#,
    br#"{"gm":1,"seq":-1,"ts":1e300,"runId":"\ud800","type":5}"#,
    br#"{"gm":1,"seq":1,"ts":0,"runId":"r","type":"constructor","payload":null}"#,
    b"\x03\x00{\"nodeId\":\"a\",\"deltas\":[{\"t\":\"text\",\"v\":\"x\"}]}",
    b"\x04\x00{\"app\":\"a\",\"sdk\":{\"name\":\"n\",\"version\":\"1\"},\"meta\":{\"name\":\"long\"}}",
    br#"{"jsonrpc":"2.0","id":1.0,"method":"tools/call","params":{"name":"a","arguments":{"n":1e999,"n":-0}},"id":"\u0031"}"#,
    b"\xef\xbb\xbf {\"method\":\"x\\ud800\",\"id\":9007199254740993,\"params\":[\"\xff\"]}\r\n",
    br#" [ {"id":1,"method":"a"} , [ {"id":"1","result":{}} , 5 ] ,[[]], {"method":"b"} ] "#,
    br#"[[{"id":null,"method":"a","params":null}],[]]"#,
    b"{\"and\":[{\"<\":[1,{\"var\":\"a.0\"},\"3\"]},{\"in\":[\"x\",{\"cat\":[{\"var\":\"\"},1e21]}]}]}\n{\"a\":[2]}",
    b"{\"reduce\":[{\"var\":\"\"},{\"merge\":[{\"var\":\"accumulator\"},{\"var\":\"accumulator\"},{\"var\":\"current\"}]},[1]]}\n[1,2,3,4,5,6,7,8,9]",
    b"{\"map\":[{\"filter\":[{\"var\":\"\"},{\"!!\":{\"var\":\"k\"}}]},{\"substr\":[{\"log\":{\"var\":\"k\"}},-3,1]}]}\n[{\"k\":\"\\ud83d\\ude00\"},{\"k\":[]}]",
    b"{\"missing_some\":[1,{\"merge\":[\"a\",[\"b.c\"]]}]}\n{\"b\":{}}",
];
