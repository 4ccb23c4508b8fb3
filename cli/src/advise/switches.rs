//! Which switch keeps a program from 512-bit code?

/// A switch that a library or a program reads at its start.
#[derive(Debug, PartialEq, Eq)]
pub struct Switch {
    /// The code that the switch concerns.
    pub covers: &'static str,
    /// Assignment of an environment variable; empty: none.
    environment: &'static str,
    /// First arguments of the program; empty: none.
    arguments: &'static str,
    /// Names of programs that have such code.
    programs: &'static [&'static str],
    /// Beginnings of the names of its functions.
    functions: &'static [&'static str],
}

/// Programs and runtimes first, then libraries.
const SWITCHES: [Switch; 6] = [
    Switch {
        covers: "x265's own code",
        environment: "",
        arguments: "--asm avx2",
        programs: &["x265"],
        functions: &[],
    },
    Switch {
        covers: "compiled code of the JVM",
        environment: "",
        arguments: "-XX:UseAVX=2",
        programs: &["java"],
        functions: &[],
    },
    Switch {
        covers: "compiled code of .NET 8 and 9; since .NET 10 its name is DOTNET_EnableAVX512",
        environment: "DOTNET_EnableAVX512F=0",
        arguments: "",
        programs: &["dotnet"],
        functions: &[],
    },
    // Bits AVX512F, DQ, IFMA, BW and VL of EBX of CPUID leaf 7 (OPENSSL_ia32cap(3)).
    Switch {
        covers: "OpenSSL's libcrypto",
        environment: "OPENSSL_ia32cap=:~0xc0230000",
        arguments: "",
        programs: &["openssl", "nginx", "haproxy", "httpd", "apache2", "stunnel"],
        functions: &["ChaCha20_", "poly1305_", "aesni_", "ossl_", "EVP_"],
    },
    Switch {
        covers: "oneDNN, which PyTorch and TensorFlow use",
        environment: "ONEDNN_MAX_CPU_ISA=AVX2",
        arguments: "",
        programs: &["python", "python3"],
        functions: &["dnnl"],
    },
    // libmvec asks for DQ, the string functions for the other three (glibc 2.36).
    Switch {
        covers: "glibc's own functions, such as memcpy and those of libmvec, and no other code",
        environment: "GLIBC_TUNABLES=glibc.cpu.hwcaps=-AVX512F,-AVX512VL,-AVX512BW,-AVX512DQ",
        arguments: "",
        programs: &[],
        functions: &["__mem", "__str", "__wcs", "_ZGVe"],
    },
];

impl Switch {
    /// The command that starts a program with the switch; ARGUMENTS stands for its arguments.
    pub fn command(&self, program: &str) -> String {
        let words = [self.environment, program, self.arguments, "ARGUMENTS"];
        words.into_iter().filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
    }

    fn concerns(&self, program: &str, functions: &[String]) -> bool {
        let is_its = |name: &String| self.functions.iter().any(|start| name.starts_with(start));
        self.programs.contains(&program) || functions.iter().any(is_its)
    }
}

/// The switches that concern a program, by its name and by the functions that used 512-bit
/// registers; where neither tells, those of all libraries.
pub fn of_program(program: &str, functions: &[String]) -> Vec<&'static Switch> {
    let known: Vec<&Switch> =
        SWITCHES.iter().filter(|switch| switch.concerns(program, functions)).collect();
    if known.is_empty() {
        return SWITCHES
            .iter()
            .filter(|switch| !switch.environment.starts_with("DOTNET"))
            .filter(|switch| !switch.environment.is_empty())
            .collect();
    }
    known
}

#[cfg(test)]
mod tests {
    use super::*;

    fn commands(program: &str, functions: &[&str]) -> Vec<String> {
        let functions: Vec<String> = functions.iter().map(|&name| name.to_owned()).collect();
        of_program(program, &functions).iter().map(|switch| switch.command(program)).collect()
    }

    #[test]
    fn a_program_has_its_own_switch_and_an_unknown_one_those_of_libraries() {
        assert_eq!(commands("x265", &[]), ["x265 --asm avx2 ARGUMENTS"]);
        assert_eq!(commands("java", &[]), ["java -XX:UseAVX=2 ARGUMENTS"]);
        let unknown = commands("mine", &[]);
        assert_eq!(unknown.len(), 3, "{unknown:?}");
        assert!(unknown.iter().all(|command| command.ends_with(" mine ARGUMENTS")), "{unknown:?}");
    }

    #[test]
    fn functions_tell_the_library() {
        let found = commands("mine", &["main", "ChaCha20_avx512vl"]);
        assert_eq!(found, ["OPENSSL_ia32cap=:~0xc0230000 mine ARGUMENTS"]);
        assert!(commands("mine", &["__memset_avx512_unaligned_erms"])[0].starts_with("GLIBC"));
    }
}
