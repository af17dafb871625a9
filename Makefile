# NUMA Operator. `make help` lists the targets; demo and test work from a fresh clone, as root.
SHELL := /bin/bash
.DEFAULT_GOAL := help

export JAVA_HOME := $(shell hack/find-jdk.sh)
# What is slow to make and does not depend on this checkout's path: the lab's Go build, the guest's disk.
CACHE ?= $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/numa-operator
LAB_BIN := $(CACHE)/lab
GUEST_BASE := $(CACHE)/guest
IMAGE_CACHE := $(CACHE)/image
IMAGE_TAR := dist/numa-operator-image.tar
TOOLS := $(CACHE)/tools
LAB_DIR ?= $(CURDIR)/.lab
MVN := mvn -B --no-transfer-progress

.PHONY: help
help: ## this list
	@awk -F':.*## ' '/^[a-z-]+:.*## / {printf "  make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: jdk
jdk:
	@test -n "$(JAVA_HOME)" || { hack/find-jdk.sh --explain; exit 1; }

.PHONY: tools
tools:
	@hack/need.sh ip:iproute2 dbus-daemon:dbus-daemon mvn:maven column:bsdextrautils pgrep:procps

.PHONY: browser
browser:
	@hack/need.sh chromium:chromium

.PHONY: test-tools
test-tools: tools browser
	@hack/need.sh shellcheck:shellcheck dash:dash busybox:busybox
	@hack/promtool.sh "$(TOOLS)"

##@ Build

.PHONY: build
build: jdk tools ## the operator, agent and CLI in target/dist, without tests
	@$(MVN) -q package -Dmaven.test.skip=true
	@hack/dist.sh

.PHONY: image-offline
image-offline: build sbom ## the image as an OCI archive, dist/numa-operator-image.tar, from Debian packages and a jlink runtime, without Docker
	@src/image/build.sh "$(IMAGE_CACHE)" target/dist $(IMAGE_TAR)

.PHONY: sbom
sbom: jdk tools ## the libraries of the image as CycloneDX, dist/numa-operator-sbom.json
	@$(MVN) -q cyclonedx:makeBom

.PHONY: image
image: ## the image by Jib, upon BASE (name@sha256:…, with Java 25 and a shell), pushed as IMAGE
	@case "$(BASE)" in *@sha256:*) ;; *) echo "Name the base by its digest: make image BASE=eclipse-temurin:25-jre@sha256:… IMAGE=…" >&2; exit 1;; esac
	@test -n "$(IMAGE)" || { echo "Name the image to push: make image BASE=… IMAGE=REGISTRY/numa-operator:0.1.0" >&2; exit 1; }
	@$(MAKE) --no-print-directory build sbom
	@$(MVN) -q jib:build -Dimage.base="$(BASE)" -Dimage.to="$(IMAGE)"

.PHONY: bench-start
bench-start: build ## how fast operator and agent start and what memory they hold, by JVM settings (docs/performance.md)
	@hack/measure-start.sh "$(IMAGE_CACHE)" target/dist

.PHONY: lab
lab: tools ## the lab's binaries (Kubernetes' control plane and kubelet, from Go modules; cold about 10 minutes)
	@src/lab/build.sh "$(LAB_BIN)"

.PHONY: crds
crds: jdk ## crds/ and docs/api.md from the API classes
	@$(MVN) -q test-compile exec:java -Dexec.mainClass=io.numaoperator.api.CrdFiles -Dexec.classpathScope=test

.PHONY: chart
chart: jdk ## charts/ from config/ and crds/
	@$(MVN) -q test-compile exec:java -Dexec.mainClass=io.numaoperator.plan.ChartFiles -Dexec.classpathScope=test

.PHONY: install-yaml
install-yaml: ## dist/install.yaml: config/default as one file, by kubectl (the PATH's, else the lab's)
	@hack/install-yaml.sh "$(LAB_BIN)"

.PHONY: bundle
bundle: jdk ## bundle/ and bundle.Dockerfile, for OLM, from config/, crds/ and what the operator makes
	@$(MVN) -q test-compile exec:java -Dexec.mainClass=io.numaoperator.bundle.BundleFiles -Dexec.classpathScope=test

.PHONY: format
format: jdk ## the Java sources, by google-java-format
	@$(MVN) -q spotless:apply

##@ Test

.PHONY: test
test: jdk test-tools ## unit, API-server and lab tests
	@PATH="$(TOOLS):$$PATH" hack/test.sh "$(LAB_BIN)"

.PHONY: test-interruptions
# -DskipTests: the unit tests are those of `make test`; here they are only compiled, since the lab runs what is among them
test-interruptions: jdk test-tools lab ## every step of a change, with the API server away, and with agent and operator killed
	@$(MVN) -q package -DskipTests
	@hack/dist.sh
	@$(MVN) surefire:test -Dtest.groups=interruption -Dtest.excludedGroups= -Dlab.bin="$(LAB_BIN)"

.PHONY: bundle-validate
bundle-validate: ## Operator Framework's validators on bundle/ (cold about 2 minutes)
	@src/tools/build.sh "$(LAB_BIN)"
	@"$(LAB_BIN)/bundle-validate" bundle

.PHONY: install-test
# -DskipTests: as for test-interruptions
install-test: jdk tools lab ## installs by kustomize, Helm chart and OLM bundle, and removes all of it again
	@src/helm/build.sh "$(LAB_BIN)"
	@$(MVN) -q package -DskipTests
	@hack/dist.sh
	@$(MVN) surefire:test -Dtest.groups=install -Dtest.excludedGroups= -Dlab.bin="$(LAB_BIN)"

.PHONY: test-upgrade
test-upgrade: jdk test-tools lab ## an older operator is upgraded in the middle of a change, downgraded, and upgraded again
	@hack/test-upgrade.sh "$(LAB_BIN)" "$(CACHE)"

.PHONY: guest-tools
guest-tools: tools
	@hack/need.sh qemu-system-x86_64:qemu-system-x86 mmdebstrap:mmdebstrap cpio:cpio depmod:kmod mke2fs:e2fsprogs xz:xz-utils openssl:openssl

.PHONY: test-guest
test-guest: jdk guest-tools ## one QEMU machine with systemd, containerd and a real kubelet.service
	@hack/test-guest.sh "$(LAB_BIN)" "$(GUEST_BASE)" "$(IMAGE_CACHE)"

##@ Measure

.PHONY: bench
bench: jdk tools ## speed, cost and footprint, in tables; PARTS='operator' SIZES='100 1000' for less
	@PARTS="$(PARTS)" SIZES="$(SIZES)" OPTIONS="$(OPTIONS)" PAGE="$(PAGE)" hack/bench.sh "$(LAB_BIN)"

##@ Look

.PHONY: demo
demo: jdk tools browser ## the main job on real kubelets; KEEP=1 leaves the cluster up
	@KEEP=$(KEEP) hack/demo.sh "$(LAB_BIN)" "$(LAB_DIR)"

.PHONY: lab-up
lab-up: build lab ## a cluster of NODES (4) made-up GPU machines with the operator installed; UP='--zones 4 …' for others
	@hack/lab-up.sh "$(LAB_BIN)" "$(LAB_DIR)" $(UP)

.PHONY: lab-down
lab-down: ## ends it
	@"$(LAB_BIN)/numalab" down --dir "$(LAB_DIR)"

.PHONY: clean
clean: ## removes target/ (the lab's cache stays)
	@rm -rf target
