# For a tap. `make recipes` fills in address and sum of the source archive, which has the lab's page, and writes
# dist/recipes/ackclock.rb. The core is built from the archive; libraries are the index's wheels, since Arrow from
# source takes longer than everything else. (Homebrew's central collection would require each as a resource.)
class Ackclock < Formula
  include Language::Python::Virtualenv

  desc "Laboratory for congestion control: packet-level simulation of TCP and its queues"
  homepage "@SITE@"
  url "@ADDRESS@"
  version "@VERSION@"
  sha256 "@SHA256@"
  license "Apache-2.0"

  depends_on "rust" => :build
  depends_on "python@3.13"

  def install
    virtualenv_create(libexec, "python3.13")
    system "python3.13", "-m", "pip", "--python=#{libexec}/bin/python", "install", buildpath.to_s
    bin.install_symlink libexec/"bin/ackclock"
  end

  test do
    assert_equal version.to_s, shell_output("#{bin}/ackclock version").strip
    (testpath/"two.toml").write <<~TOML
      duration = "2 s"
      net = { kind = "dumbbell", pairs = 2, rate = "10 Mbps", rtt = "40 ms", buffer = "1 bdp" }
      flows = [{ pair = 0, cc = "cubic" }, { pair = 1, cc = "vegas" }]
    TOML
    assert_match "vegas", shell_output("#{bin}/ackclock run two.toml")
  end
end
