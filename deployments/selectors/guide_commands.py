"""The commands and log lines of the guide, kept once so that both languages show the same."""

from collections.abc import Mapping

COMMANDS: Mapping[str, str] = {
    "mtp-flag": """--speculative-config '{"num_speculative_tokens": 3, "method": "deepseek_mtp"}'""",
    "mtp-flag-now": """--speculative-config '{"method": "mtp", "num_speculative_tokens": 3}'""",
    "eagle3-flag": """EAGLE_PATH="/models/kimi-k2.6-eagle3"
--speculative-config '{"method":"eagle3","model":"'$EAGLE_PATH'","num_speculative_tokens":3}'""",
    "draft-model": """vllm serve Qwen/Qwen3-72B \\
  --speculative-config '{"method":"draft_model","model":"Qwen/Qwen3-0.6B","num_speculative_tokens":5}'""",
    "draft-model-now": """vllm serve Qwen/Qwen3-32B \\
  --speculative-config '{"method":"draft_model","model":"Qwen/Qwen3-0.6B","num_speculative_tokens":5}'""",
    "ngram-flag": """--speculative-config '{"method":"ngram","num_speculative_tokens":3,"prompt_lookup_max":5,"prompt_lookup_min":2}'""",
    "suffix-flag": """pip install arctic-inference==0.1.1
--speculative-config '{"method":"suffix","num_speculative_tokens":3}'""",
    "dspark-flag": """--speculative-config '{"method":"dspark","num_speculative_tokens":7,"enforce_eager":true}'""",
    "dflash-flag": """--speculative-config '{"method":"dflash","model":"z-lab/Kimi-K2.5-DFlash","num_speculative_tokens":15}'""",
    "config-eager": """{
  "num_speculative_tokens": 3,
  "method": "deepseek_mtp",
  "enforce_eager": true
}""",
    "config-list": """command:
  - --model
  - /models/GLM-5.2-w8a8
  - --speculative-config
  - '{"method":"mtp","num_speculative_tokens":3,"enforce_eager":true}'""",
    "glm-prefill": """vllm serve /workspace/GLM-5.2-w8a8 \\
  --speculative-config '{"num_speculative_tokens": 1, "method":"deepseek_mtp", "enforce_eager": true}'""",
    "glm-decode": """vllm serve /workspace/GLM-5.2-w8a8 \\
  --speculative-config '{"num_speculative_tokens": 3, "method":"deepseek_mtp", "enforce_eager": true}'""",
    "kimi-prefill": """EAGLE_PATH="/models/kimi-k2.6-eagle3"

vllm serve /workspace/Kimi-K2.6-w8a8 \\
  --speculative-config '{"method":"eagle3","model":"'"$EAGLE_PATH"'","num_speculative_tokens":3}'""",
    "kimi-decode": """EAGLE_PATH="/models/kimi-k2.6-eagle3"

vllm serve /workspace/Kimi-K2.6-w8a8 \\
  --speculative-config '{"method":"eagle3","model":"'"$EAGLE_PATH"'","num_speculative_tokens":3}'""",
    "kimi-volumes": """# docker-compose.yml
volumes:
  - /data/models/Kimi-K2.6/kimi-k2.6-eagle3:/models/kimi-k2.6-eagle3""",
    "deepseek": """vllm serve /workspace/DeepSeek-V4-Flash-w8a8-mtp \\
  --speculative-config '{"num_speculative_tokens": 5, "method": "deepseek_mtp"}'""",
    "deepseek-now": """vllm serve /workspace/DeepSeek-V4-Flash-w8a8-mtp \\
  --speculative-config '{"method":"mtp","num_speculative_tokens":1,"enforce_eager":true}'""",
    "start-line-claimed": "INFO: Enabling speculative decoding with method deepseek_mtp, num_speculative_tokens=3",
    "start-line": """(EngineCore pid=129) INFO 05-06 06:05:38 [core.py:109] Initializing a V1 LLM engine (v0.20.2) with config: model='/model', speculative_config=SpeculativeConfig(method='mtp', model='google/gemma-4-31B-it-assistant', num_spec_tokens=4), tokenizer=...""",
    "acceptance-line-claimed": "accepted 2340 / drafted 3000 = 78.0%",
    "acceptance-line": """(APIServer pid=13026) INFO 05-08 16:26:29 [metrics.py:101] SpecDecoding metrics: Mean acceptance length: 4.74, Accepted throughput: 98.70 tokens/s, Drafted throughput: 158.40 tokens/s, Accepted: 987 tokens, Drafted: 1584 tokens, Per-position acceptance rate: 0.917, 0.837, 0.648, 0.538, 0.451, 0.348, Avg Draft acceptance rate: 62.3%""",
    "grep-claimed": 'grep "speculative" /workspace/logs/decode_rank0.log',
    "grep": """grep -E "speculative_config=SpeculativeConfig|SpecDecoding metrics:" /workspace/logs/decode_rank0.log""",
    "serve-off": "vllm serve /model --max-num-seqs 256",
    "bench-claimed": """python3 -m vllm.benchmarks.benchmark_serving \\
  --backend vllm --model model-name \\
  --dataset-name sharegpt --num-prompts 100""",
    "bench": """vllm bench serve --backend openai-chat --endpoint /v1/chat/completions \\
  --base-url http://127.0.0.1:8000 --model model-name \\
  --dataset-name sharegpt --dataset-path ShareGPT_V3_unfiltered_cleaned_split.json \\
  --num-prompts 100 --max-concurrency 16 --temperature 0 --num-warmups 8 \\
  --percentile-metrics ttft,tpot,itl,e2el --metric-percentiles 50,90,99 \\
  --save-result --result-filename with-speculation.json""",
    "metrics-present": "curl -s http://127.0.0.1:8000/metrics | grep vllm:spec_decode",
    "promql": """# acceptance rate, 0 to 1
sum(rate(vllm:spec_decode_num_accepted_tokens_total[5m])) / sum(rate(vllm:spec_decode_num_draft_tokens_total[5m]))

# mean acceptance length, bonus token included
1 + sum(rate(vllm:spec_decode_num_accepted_tokens_total[5m])) / sum(rate(vllm:spec_decode_num_drafts_total[5m]))

# requests per second
sum(rate(vllm:request_success_total[5m]))

# median time per output token, seconds
histogram_quantile(0.5, sum by (le) (rate(vllm:request_time_per_output_token_seconds_bucket[5m])))""",
    "proxy-nvidia": """vllm-router --policy round_robin --vllm-pd-disaggregation --kv-connector nixl \\
  --prefill http://PREFILL:8000 --decode http://DECODE:8000 --host 0.0.0.0 --port 8000""",
    "proxy-ascend": """python3 load_balance_proxy_server_example.py --host 0.0.0.0 --port 8000 \\
  --prefiller-hosts PREFILL --prefiller-ports 8000 --decoder-hosts DECODE --decoder-ports 8000""",
}
"""Text by key. Keys that end in ``-claimed`` are what the guide corrects."""
