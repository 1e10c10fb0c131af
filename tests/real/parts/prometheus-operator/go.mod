module drover.dev/tests/real/parts/prometheus-operator

go 1.26.0

require github.com/prometheus-operator/prometheus-operator v0.92.0
